//! The policy as a whole: commands, files, rules, modes and trust, through nothing but its public face.

mod policy {
    mod commands;
    mod corpus;
    mod dress;
    mod files;
    mod rules;
    mod who;
    mod world;
}
