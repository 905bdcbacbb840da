/** The notification feed of a client (doc 2, Other account reads; A2-64, EVT-10). */
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { NotificationsWire } from "../../machines/account/NotificationWire.ts"
import { notificationLimits } from "../../machines/shared/Limits.ts"
import { ok } from "./Envelope.ts"
import { clientParams, momentParam, nameParam } from "./Parameters.ts"
import { heavyRead, RouteRules } from "./RouteRules.ts"
import { BadRequest } from "./WireErrors.ts"

export const notifications = HttpApiEndpoint.get("notifications", "/clients/:clientId/notifications", {
  params: clientParams,
  query: {
    since: momentParam(
      "since",
      "Only items of this moment or later, Unix ms; 24 hours ago when absent. A moment to come has none."
    ),
    after: nameParam("Only items behind that one: sent by the reference of the header Link, to be sent as it is.")
  },
  success: ok(NotificationsWire),
  error: BadRequest
})
  .annotate(RouteRules, heavyRead(notificationLimits.answerMax))
  .annotateMerge(
    OpenApi.annotations({
      summary: "Notifications of a client, oldest first",
      description: `What its webhooks say, and what they do not: kinds without an event, and items that were written too late to be forwarded. At most ${notificationLimits.answerMax}; when there are more, the header Link names the next answer (rel="next"). A poller goes on from the ts of its last item, which is sent again.`
    })
  )
