/** What the benchmark says to the generator and the reference program of the onboarding part, and gets back. */
import type { SliceResult } from "../load/protocol.ts"

export type SideName = "service" | "reference"

/** One closed loop: `connections` requests in flight until `millis` are over, or until `count` were sent. */
export interface OnboardingSlice {
  /** Revisions of a side's clients are counted over all slices. */
  readonly side: SideName
  readonly port: number
  readonly ca: string
  readonly partnerKey: string
  /** `onboard`: new people; `revise`: PUT .../kyc over `clientIds` in turn, each at most once under way. */
  readonly kind: "onboard" | "revise"
  readonly clientIds: ReadonlyArray<number>
  readonly connections: number
  readonly millis: number
  readonly count: number | null
  /** Keeps people, references and keys of slices apart: letters and digits. */
  readonly tag: string
}

export interface OnboardingResult extends SliceResult {
  /** The client of every successful answer, in the order of the answers. */
  readonly clientIds: ReadonlyArray<number>
  /** Answers that said PENDING_REVIEW. */
  readonly reviews: number
  /** Answers that said that the identity changed. */
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

/** The pool of the reference: what most services start with. */
export const poolSize = 10
