//! What `programmator status` tells.
