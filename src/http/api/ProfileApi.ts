/** The calling partner (doc 1, Partner profile and Summary). */
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { me } from "./MeApi.ts"
import { summary } from "./SummaryApi.ts"

export class ProfileApi extends HttpApiGroup.make("profile")
  .add(me, summary)
  .annotateMerge(OpenApi.annotations({ title: "Profile", description: "The calling partner." })) {}
