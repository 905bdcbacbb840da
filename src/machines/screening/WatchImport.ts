/**
 * The import of one version of a published list. It is announced with its size and hash, sent in pieces, and finished by
 * removing the entries that the version no longer has. Source: F26 (lists are loaded from files with a version date; list
 * versions are stored); operator surface, screening import.
 */
export const watchImportStates = ["OPEN", "REMOVING", "DONE", "REPLACED", "ABANDONED"] as const
export type WatchImportState = (typeof watchImportStates)[number]

/** A report names at most this many places; the count includes the others. */
export const maxPlaces = 100

/** The parts of a published file that were not imported, or not as published. A place is a line, or a member of a JSON file. */
export interface FileReport {
  /** The number of entries that are not persons, such as companies and ships. */
  readonly notPersons: number
  /** Skipped lines without a readable name. */
  readonly badLines: ReadonlyArray<string>
  /** The number of fields with an unreadable value, which counts as unknown, and the places of the first hundred. */
  readonly unread: number
  readonly unreadAt: ReadonlyArray<string>
}

export const wholeReport: FileReport = { notPersons: 0, badLines: [], unread: 0, unreadAt: [] }

export interface WatchImportInput {
  readonly importId: number
  /** The publisher of the list, such as EU or OFAC. */
  readonly source: string
  readonly sourceVersion: string
  /** Number of entries in the file. */
  readonly count: number
  /** Hash of the file's entries in their order, hexadecimal. The hash of the received entries must equal it. */
  readonly hash: string
  /** The parts of the file that are not on the list; absent when every entry is. */
  readonly report?: FileReport
  readonly startedAt: number
}

export interface WatchImportContext extends WatchImportInput {
  readonly report: FileReport
  /** The number of entries received: the offset of the next piece. */
  readonly received: number
  /** Hash of the entries received. */
  readonly chain: string
  readonly added: number
  /** The number of entries that were already on the list. */
  readonly kept: number
  readonly removed: number
  readonly endedAt: number | null
}

export type WatchImportEvent =
  | {
      readonly type: "ENTRIES"
      readonly at: number
      readonly offset: number
      readonly added: number
      readonly kept: number
      /** Hash of all entries up to the end of this piece. */
      readonly chain: string
    }
  /** Removes entries of earlier versions; `last` is true when none remains. */
  | { readonly type: "REMOVE"; readonly at: number; readonly removed: number; readonly last: boolean }
  /** A later import of the same source has begun, or has finished. */
  | { readonly type: "SUPERSEDE"; readonly at: number; readonly by: string }
