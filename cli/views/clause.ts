/** The source of a rule without the part of the contract, for operators who know rules by name and number. */
export const withoutPart = (clause: string): string => clause.replaceAll(/\bdoc \d+, /g, "")
