/** The messages between the benchmark, the load generator and the reference program of the onboarding part. */
import type { SliceResult } from "../load/protocol.ts"

export type SideName = "service" | "reference"

/** One closed loop: `connections` requests in flight until `millis` are over, or until `count` were sent. */
export interface OnboardingSlice {
  /** The side whose clients are revised. Their revisions are counted over all slices. */
  readonly side: SideName
  readonly port: number
  readonly ca: string
  readonly partnerKey: string
  /**
   * `onboard`: new people. `revise`: PUT .../kyc over `clientIds` in turn, with at most one request in flight per
   * client.
   */
  readonly kind: "onboard" | "revise"
  readonly clientIds: ReadonlyArray<number>
  readonly connections: number
  readonly millis: number
  readonly count: number | null
  /** Separates the people, references and keys of slices: letters and digits. */
  readonly tag: string
}

export interface OnboardingResult extends SliceResult {
  /** The client of every successful answer, in the order of the answers. */
  readonly clientIds: ReadonlyArray<number>
  /** Answers with PENDING_REVIEW. */
  readonly reviews: number
  /** Answers that report a changed identity. */
  readonly identityChanges: number
}

/** Serves HTTPS on a free port of 127.0.0.1. */
export interface OnboardingServeQuestion {
  readonly databaseUrl: string
  readonly certificate: string
  readonly key: string
}
export interface OnboardingServeAnswer {
  readonly port: number
}

/** The pool size of the reference: the default of most services. */
export const poolSize = 10
