/** Moments as people write them (operator surface, sim clock advance). */

const day = /^\d{4}-\d{2}-\d{2}$/
const dayAndTime = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2})?Z?$/

/**
 * Unix ms of a day (its first moment), of a day and a time, both UTC, or of Unix ms as they are; null for anything else, and for a
 * day that no calendar has.
 */
export const parseMoment = (text: string): number | null => {
  if (/^[1-9][0-9]{11,15}$/.test(text)) return Number(text)
  if (!day.test(text) && !dayAndTime.test(text)) return null
  const iso = day.test(text) ? `${text}T00:00:00Z` : `${text.replace(" ", "T").replace(/Z$/, "")}Z`
  const millis = Date.parse(iso)
  return Number.isNaN(millis) || !new Date(millis).toISOString().startsWith(text.slice(0, 10)) ? null : millis
}
