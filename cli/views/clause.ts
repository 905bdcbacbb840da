/** Where a rule comes from, for a reader who knows the rules' names and numbers and not the parts that they are printed in. */
export const withoutPart = (clause: string): string => clause.replaceAll(/\bdoc \d+, /g, "")
