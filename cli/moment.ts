/**
 * Times as people write them: a duration (`2h`), a date or a date with a time of day, in UTC like the books, or Unix ms
 * (operator surface, rules for every command).
 */
import { InvalidArgumentError, Option } from "commander"
import { parseDuration } from "./duration.ts"

/** Whether a duration is counted back from now or ahead. */
export type Direction = "ago" | "ahead"

const form = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:\d{2})?)?$/

/** Unix ms, or null for what is no time. */
export const parseMoment = (text: string, direction: Direction, now: number): number | null => {
  const duration = parseDuration(text)
  if (duration === null) return parseDate(text)
  return direction === "ago" ? Math.max(0, now - duration) : now + duration
}

/** As `parseMoment`, without durations. A date alone is its first moment; a day that no month has is no date. */
export const parseDate = (text: string): number | null => {
  if (/^(0|[1-9][0-9]{0,15})$/.test(text)) return Number.isSafeInteger(Number(text)) ? Number(text) : null
  const [whole, date = "", clock = "00:00", zone = "Z"] = form.exec(text) ?? []
  if (whole === undefined || !isDay(date)) return null
  const at = Date.parse(`${date}T${clock}${zone}`)
  return Number.isNaN(at) || at < 0 ? null : at
}

/** Date.parse takes 31 June for 1 July. */
const isDay = (date: string): boolean => {
  const at = Date.parse(`${date}T00:00Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(date)
}

/** What may stand for a time, for the help of an option. */
export const momentForms = {
  ago: "2h, 2026-11-01, 2026-11-01T09:30 (UTC) or Unix ms",
  ahead: "2h from now, 2026-11-01T09:30 (UTC) or Unix ms"
}

/**
 * An option that takes a time. Durations are counted on this machine's clock; a sandbox whose clock was advanced is ahead of
 * it. `latest`: Unix ms.
 */
export const momentOption = (
  flags: string,
  meaning: string,
  {
    direction = "ago",
    latest = Number.MAX_SAFE_INTEGER
  }: { readonly direction?: Direction; readonly latest?: number } = {}
): Option =>
  new Option(flags, `${meaning}: ${momentForms[direction]}`).argParser((text) => {
    const at = parseMoment(text, direction, Date.now())
    if (at === null || at > latest)
      throw new InvalidArgumentError(`It must be a time such as ${momentForms[direction]}.`)
    return at
  })
