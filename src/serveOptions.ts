/**
 * Options of `brokerage serve`. The command line fills them in; no other code reads flags (operator surface, Service; A1-17,
 * A1-26, A2-10, STS-20).
 */
import type { LeverageProfile } from "./machines/market/marketTerms.ts"
import type { FirmSettings } from "./runtime/Settings.ts"
import { cidrSentence } from "./runtime/services/partners/addressRanges.ts"

export interface ServeOptions {
  /** The parts that this process runs: all, the part behind an edge, or the edge alone. */
  readonly role: "all" | "router" | "edge"
  /** For an edge: its routers, https, in order of preference. */
  readonly routerUrls: ReadonlyArray<string>
  /** For an edge: PEM file of the routers' authority; null: the local one of the data directory, else the public ones. */
  readonly routerCa: string | null
  /** For an edge: whether it forwards the operator surface. */
  readonly passOperator: boolean
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  readonly dataDir: string
  /** Any Postgres 15 or newer; null: the embedded one in the data directory. */
  readonly databaseUrl: string | null
  /** URL of an external venue; null: the simulated venue in a sandbox, no venue outside a sandbox. */
  readonly venueUrl: string | null
  /** File with the venue's key; null: the venue needs none. */
  readonly venueKeyFile: string | null
  /** PEM file of the venue's authority; null: the public ones. */
  readonly venueCa: string | null
  /** Own certificate and key (PEM files); null: the local authority of the data directory. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null
  readonly sandbox: boolean
  readonly demo: boolean
  /** Print one JSON line when ready, instead of text. */
  readonly json: boolean
  /** Addresses or ranges whose X-Forwarded-For is trusted. */
  readonly edgeHosts: ReadonlyArray<string>
  /** Sandbox only: webhook hosts exempt from the public-host rule; the local authority is trusted for them. */
  readonly allowWebhookHosts: ReadonlyArray<string>
  /** Command classes under four eyes; null: all of them outside the sandbox, none inside. */
  readonly fourEyes: ReadonlyArray<string> | null
  /** The schedule of the highest leverage on perpetuals. */
  readonly leverageProfile: LeverageProfile
  /** ISO alpha-2 codes refused as residency; null: the default list. */
  readonly blockedJurisdictions: ReadonlyArray<string> | null
  /** The two tokens of identityCheck.provider besides manual and other; null: placeholders. */
  readonly identityProviders: ReadonlyArray<string> | null
  /** Names of the firm and its trading venue on statements; a missing part or null: placeholders. */
  readonly firm: Partial<FirmSettings> | null
  /** Sandbox only: the process kills itself at the n-th pass of this point. For crash tests. */
  readonly killAt: { readonly point: string; readonly times: number } | null
}

/**
 * Why an edge host is no valid address range, as a sentence for the operator; null if all are valid. An invalid one is never
 * ignored.
 */
export const unreadEdgeHost = ({ edgeHosts }: ServeOptions): string | null => {
  for (const range of edgeHosts) {
    const sentence = cidrSentence(range)
    if (sentence !== null) return `--edge-host ${range}: ${sentence}`
  }
  return null
}
