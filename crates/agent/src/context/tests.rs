//! Claims about estimates, folding and cutting.

use super::*;
