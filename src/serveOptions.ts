/** What `brokerage serve` takes (operator surface, Service). The command line fills it in; nothing else reads flags. */
import type { LeverageProfile } from "./machines/market/marketTerms.ts"
import type { FirmSettings } from "./runtime/Settings.ts"
import { cidrSentence } from "./runtime/services/partners/addressRanges.ts"

export interface ServeOptions {
  /** What of the service this process is: all of it, the part behind an edge, or the edge alone. */
  readonly role: "all" | "router" | "edge"
  /** Of an edge: the routers it may ask, https, the first one first. */
  readonly routerUrls: ReadonlyArray<string>
  /** Of an edge: PEM file of the routers' authority; null: the local one of the data directory, else the public ones. */
  readonly routerCa: string | null
  /** Of an edge: whether it passes the operator surface on. */
  readonly passOperator: boolean
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  readonly dataDir: string
  /** Any Postgres 15 or newer; null: the embedded one in the data directory. */
  readonly databaseUrl: string | null
  /** A venue of one's own; null: the simulated one in a sandbox, none outside. */
  readonly venueUrl: string | null
  /** File with the key for it; null: it asks for none. */
  readonly venueKeyFile: string | null
  /** PEM file of its authority; null: the public ones. */
  readonly venueCa: string | null
  /** Own certificate and key (PEM files); null: the local authority of the data directory. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null
  readonly sandbox: boolean
  readonly demo: boolean
  /** Print one JSON line when ready, instead of text for a person. */
  readonly json: boolean
  /** Addresses or ranges whose X-Forwarded-For is believed. */
  readonly edgeHosts: ReadonlyArray<string>
  /** Sandbox only: webhook hosts exempt from the public-host rule; the local authority is trusted for them. */
  readonly allowWebhookHosts: ReadonlyArray<string>
  /** Command classes under four eyes; null: all of them outside the sandbox, none inside. */
  readonly fourEyes: ReadonlyArray<string> | null
  /** The schedule of the highest leverage on perpetuals (A2-10). */
  readonly leverageProfile: LeverageProfile
  /** ISO alpha-2 codes refused as residency; null: the specification's list (A1-17). */
  readonly blockedJurisdictions: ReadonlyArray<string> | null
  /** The two tokens of identityCheck.provider besides manual and other; null: the placeholders (A1-26). */
  readonly identityProviders: ReadonlyArray<string> | null
  /** How statements name the firm and its trading venue, as far as it is said; null: the placeholders (STS-20). */
  readonly firm: Partial<FirmSettings> | null
  /** Sandbox only: the process kills itself the n-th time it passes this pause point. For crash tests. */
  readonly killAt: { readonly point: string; readonly times: number } | null
}

/** Why an edge host can't be read as an address range, for the operator; null when all can. One is never passed over. */
export const unreadEdgeHost = ({ edgeHosts }: ServeOptions): string | null => {
  for (const range of edgeHosts) {
    const sentence = cidrSentence(range)
    if (sentence !== null) return `--edge-host ${range}: ${sentence}`
  }
  return null
}
