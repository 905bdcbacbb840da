/**
 * The version of the rules by which names are folded and compared (F26). Raised with every change that can find what was
 * not found before: all clients are then screened again.
 */
export const screeningRulesVersion = 1
