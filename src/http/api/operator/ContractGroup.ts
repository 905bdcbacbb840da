/** Knock-out contracts of all clients, open and ended (operator surface, contract; doc 2, Barrier contract). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ContractWire } from "../../../machines/contract/ContractWire.ts"
import { token } from "../../../machines/shared/Fields.ts"
import { Id } from "../../../machines/shared/Ids.ts"
import { pageEnd } from "../../../machines/shared/Page.ts"
import { venueContractStates } from "../../../machines/venue/venueObjects.ts"
import { everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Cursor, Limit, Reference } from "./OperatorFieldSchemas.ts"
import { indexed } from "../Parameters.ts"

/** A contract as partners read it, with the id and uid of its client. */
export const ContractView = Schema.Struct({ ...ContractWire.fields, clientId: Id, clientUid: Schema.String })

export class ContractGroup extends HttpApiGroup.make("contract").add(
  HttpApiEndpoint.get("list", "/contracts", {
    query: {
      client: indexed(Schema.optionalKey(Reference)),
      partner: indexed(Schema.optionalKey(Reference)),
      state: Schema.optionalKey(token("The state", venueContractStates)),
      limit: Limit(500),
      before: Cursor("The cursor")
    },
    success: Answer(Schema.Struct({ contracts: Schema.Array(ContractView), ...pageEnd }))
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.get("show", "/contracts/:contractId", {
    params: { contractId: Reference },
    success: Answer(ContractView)
  }).pipe(openTo(everyone))
) {}
