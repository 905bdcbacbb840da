/**
 * The examples of the reference: requests, answers and webhook deliveries that `npm run examples` records from the scenarios of
 * scripts/examples. They are never edited by hand; test/http/examples.test.ts validates each against its schema.
 */
import { readFileSync } from "node:fs"

/**
 * The recordings of one operation: requests (absent when it has no body), and answers by status. Each recording has a
 * different set of members.
 */
export interface RecordedOperation {
  readonly request?: unknown
  readonly answers: Readonly<Record<string, ReadonlyArray<unknown>>>
}

export interface Recorded {
  /** The recordings of each operation, by its name `noun.verb`. */
  readonly operations: Readonly<Record<string, RecordedOperation>>
  /** Bodies of webhook deliveries by event. */
  readonly events: Readonly<Record<string, unknown>>
}

export const recordedFile = new URL("recorded.json", import.meta.url)

let kept: Recorded | null = null

/** Cached, because the file is long and each refusal of each operation is looked up in it. */
export const recorded = (): Recorded => (kept ??= JSON.parse(readFileSync(recordedFile, "utf8")) as Recorded)
