/**
 * What partners asked, were answered and were told in the scenarios of scripts/examples, as `npm run examples` has recorded it:
 * the examples of the reference. Nobody writes them by hand; test/http/examples.test.ts holds each against its schema.
 */
import { readFileSync } from "node:fs"

/** Of one operation: what was sent, absent where nothing was, and the answers by status, with other members each. */
export interface RecordedOperation {
  readonly request?: unknown
  readonly answers: Readonly<Record<string, ReadonlyArray<unknown>>>
}

export interface Recorded {
  /** By operation, `noun.verb`. */
  readonly operations: Readonly<Record<string, RecordedOperation>>
  /** Bodies of deliveries by event. */
  readonly events: Readonly<Record<string, unknown>>
}

export const recordedFile = new URL("recorded.json", import.meta.url)

let kept: Recorded | null = null

/** Read once: it is long, and every refusal of every operation is looked up in it. */
export const recorded = (): Recorded => (kept ??= JSON.parse(readFileSync(recordedFile, "utf8")) as Recorded)
