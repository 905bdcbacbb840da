/** What the operator may set, with the defaults the specification and the decisions give. */
import { Context, Layer } from "effect"
import { defaultIdentityProviders } from "../machines/kyc/IdentityCheck.ts"
import { defaultMarketTerms, type MarketTerms } from "../machines/market/marketTerms.ts"
import { defaultBlockedJurisdictions } from "../machines/shared/Country.ts"
import { defaultSourceOfWealthThreshold } from "../machines/verification/sourceOfWealth.ts"

/** The firm as statements name it (STS-20). */
export interface FirmSettings {
  readonly name: string
  readonly legalEntity: string
  /** The trading venue, as statements name it. */
  readonly venue: string
}

export interface SettingsShape {
  readonly sandbox: boolean
  /** The venue is one of --venue-url, which keeps what it has whatever happens to this service. */
  readonly namedVenue: boolean
  /** ISO alpha-2 codes refused as residency or residential address (A1-17). */
  readonly blockedJurisdictions: ReadonlySet<string>
  /** The two configured tokens besides `manual` and `other` (A1-26). */
  readonly identityProviders: ReadonlyArray<string>
  /** Micro-USDC (F25). */
  readonly sourceOfWealthThreshold: bigint
  /** What the broker sets on markets (A2-08..A2-10, A2-18). */
  readonly marketTerms: MarketTerms
  /** Reviews of A1-28; only a sandbox may switch them off. */
  readonly reviewDeclaredPep: boolean
  readonly reviewHighRating: boolean
  /** Command classes that take effect only after a second operator key grants them. */
  readonly fourEyes: ReadonlySet<string>
  /** Sandbox only: webhook hosts exempt from the public-host rule (operator surface, --allow-webhook-host). */
  readonly webhookHosts: ReadonlySet<string>
  /** PEM of the authority that is trusted for those hosts besides the public ones; null: none. */
  readonly webhookAuthority: string | null
  /** Idle subjects kept in memory. */
  readonly residentClients: number
  readonly firm: FirmSettings
}

export const defaultSettings: SettingsShape = {
  sandbox: false,
  namedVenue: false,
  blockedJurisdictions: defaultBlockedJurisdictions,
  identityProviders: defaultIdentityProviders,
  sourceOfWealthThreshold: defaultSourceOfWealthThreshold,
  marketTerms: defaultMarketTerms,
  reviewDeclaredPep: true,
  reviewHighRating: true,
  fourEyes: new Set(),
  webhookHosts: new Set(),
  webhookAuthority: null,
  residentClients: 10_000,
  firm: { name: "Partner Brokerage", legalEntity: "Partner Brokerage Ltd", venue: "Venue" }
}

export class Settings extends Context.Service<Settings, SettingsShape>()("brokerage/runtime/Settings") {
  static readonly layer = (settings: SettingsShape): Layer.Layer<Settings> => Layer.succeed(Settings, settings)
}
