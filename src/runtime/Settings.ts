/** The operator's settings, with the defaults of the specification and the decisions. */
import { Context, Layer } from "effect"
import { defaultIdentityProviders } from "../machines/kyc/IdentityCheck.ts"
import { defaultMarketTerms, type MarketTerms } from "../machines/market/marketTerms.ts"
import { defaultBlockedJurisdictions } from "../machines/shared/Country.ts"
import { defaultSourceOfWealthThreshold } from "../machines/verification/sourceOfWealth.ts"

/** The firm's data in statements (STS-20). */
export interface FirmSettings {
  readonly name: string
  readonly legalEntity: string
  /** The trading venue's name in statements. */
  readonly venue: string
}

export interface SettingsShape {
  readonly sandbox: boolean
  /** True if --venue-url names the venue. Such a venue keeps its state independently of this service. */
  readonly namedVenue: boolean
  /** ISO alpha-2 codes refused as residency or residential address (A1-17). */
  readonly blockedJurisdictions: ReadonlySet<string>
  /** The two configured identity providers besides `manual` and `other` (A1-26). */
  readonly identityProviders: ReadonlyArray<string>
  /** Micro-USDC (F25). */
  readonly sourceOfWealthThreshold: bigint
  /** The broker's terms of markets (A2-08..A2-10, A2-18). */
  readonly marketTerms: MarketTerms
  /** Whether a declared public function and a high risk rating require a review (A1-28). Only a sandbox may switch this off. */
  readonly reviewDeclaredPep: boolean
  readonly reviewHighRating: boolean
  /** The command classes that need a second operator key before they take effect. */
  readonly fourEyes: ReadonlySet<string>
  /** Sandbox only: webhook hosts exempt from the public-host rule (operator surface, --allow-webhook-host). */
  readonly webhookHosts: ReadonlySet<string>
  /** PEM of the authority that is trusted for those hosts besides the public ones; null if there is none. */
  readonly webhookAuthority: string | null
  /** Limit on idle subjects kept in memory. */
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
