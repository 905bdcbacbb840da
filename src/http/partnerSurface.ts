/** The partner surface: the gates of A1-02 over the live views, and its clients (doc 1, Authentication and Errors). */
import { Effect } from "effect"
import { BusinessClock } from "../runtime/engine/clock/BusinessClock.ts"
import { Clients } from "../runtime/services/client/Clients.ts"
import { Directory } from "../runtime/services/partner/Directory.ts"
import { KeyUsage } from "../runtime/services/partner/KeyUsage.ts"
import type { PartnerPrincipal } from "../runtime/services/shared/Principal.ts"
import type { Surface } from "./Dispatcher.ts"
import { partnerGates, type PartnerGateServices } from "./middleware/gates.ts"
import { RateWindows } from "./middleware/RateWindows.ts"
import type { RouteTable } from "./middleware/routes.ts"
import { gateRefusals } from "./toWire.ts"

export const partnerSurface = (
  routes: RouteTable,
  options: {
    /** Addresses and ranges of the operator's own edge hosts (A1-08). */
    readonly edgeHosts: ReadonlyArray<string>
  }
) =>
  Effect.gen(function* () {
    const clients = yield* Clients
    const surface: Surface<PartnerPrincipal, PartnerGateServices> = {
      gates: partnerGates,
      services: {
        routes,
        directory: yield* Directory,
        usage: yield* KeyUsage,
        business: yield* BusinessClock,
        rates: new RateWindows(),
        edgeHosts: options.edgeHosts
      },
      standing: ({ caller }, { rules }) =>
        rules.reliance && caller.partner.reliance !== "APPROVED" ? gateRefusals.reliance : null,
      owns: ({ caller }, clientId) => clients.owns(caller.partner.row.id, clientId)
    }
    return surface
  })
