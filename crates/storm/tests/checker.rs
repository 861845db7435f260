//! The checker can fail: doctored journals, logs, accounts and files, each with the exact finding that it must give.

mod checker {
    mod doctored;
    mod files;
    mod journals;
    mod turns;
}
