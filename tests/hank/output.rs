//! Output shapes: flat object, CLI object, array, text.
