//! Folders that builds and tests make, and make again: what `${built}` in a rule stands for.

/// From the root of the workspace; `*` stands for a name, `**` for any number of folders.
pub const BUILT: [&str; 41] = [
    "target/**", "crates/*/target/**", "**/node_modules/**", "dist/**", "*/dist/**", "packages/*/dist/**", "build/**",
    "cmake-build-*/**", "out/**", "_build/**", "_site/**", "site/**", "public/build/**", "tmp/cache/**", "coverage/**",
    "*/coverage/**", "htmlcov/**", "test-results/**", "playwright-report/**", "storybook-static/**", "DerivedData/**",
    ".build/**", ".next/**", "*/.next/**", ".nuxt/**", ".svelte-kit/**", ".turbo/**", "*/.turbo/**",
    ".parcel-cache/**", ".angular/**", ".dart_tool/**", ".gradle/**", ".cache/**", ".eggs/**", ".tox/**", ".nox/**",
    "**/.pytest_cache/**", "**/.mypy_cache/**", "**/.ruff_cache/**", "**/*.egg-info/**", "**/__pycache__/**",
];
