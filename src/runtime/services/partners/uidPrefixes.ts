/**
 * Uid prefixes of partners for which the operator chose none: the first partner gets CL, later ones a prefix made from
 * their code, with digits behind it if that is taken (F31).
 */

/** The prefix of the first partner. */
export const defaultUidPrefix = "CL"

const maxLength = 8
/** Free prefixes offered: one is enough unless other partners are created at the same moment. */
const offered = 100

/** A prefix from the code: upper-case letters and digits, at most eight, starting with a letter; null when none is left. */
export const derivedPrefix = (code: string): string | null => {
  const letters = code
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, "")
    .replace(/^[0-9]+/, "")
    .slice(0, maxLength)
  return letters === "" ? null : letters
}

/**
 * CL, the code's own prefix, then that one shortened as needed before 2, 3 and so on: more candidates than there are
 * partners.
 */
const candidates = function* (code: string): Generator<string> {
  yield defaultUidPrefix
  const derived = derivedPrefix(code)
  if (derived !== null && derived !== defaultUidPrefix) yield derived
  const base = derived ?? defaultUidPrefix
  for (let n = 2; n < 10 ** (maxLength - 1); n++) yield `${base.slice(0, maxLength - String(n).length)}${n}`
}

/** Prefixes for a partner with this code in the order to try, without those in use. Never empty. */
export const freePrefixes = (code: string, inUse: ReadonlySet<string>): ReadonlyArray<string> => {
  const free: Array<string> = []
  for (const prefix of candidates(code)) {
    if (inUse.has(prefix)) continue
    if (free.push(prefix) === offered) break
  }
  return free
}

/** Notes for the operator about a prefix that it did not choose; none for the default. */
export const prefixNotes = (prefix: string): ReadonlyArray<string> =>
  prefix === defaultUidPrefix
    ? []
    : [`The uid prefix ${defaultUidPrefix} belongs to another partner, so this one has ${prefix}.`]
