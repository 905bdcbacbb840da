/** Calls of the atlas as a browser makes them: by the printed link, then by its cookie. */
import { readFileSync } from "node:fs"
import { request } from "node:https"
import type { OperatorService } from "./operatorHarness.ts"

/** An answer as a browser receives it. */
export interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: string
}

export const atlasCalls = (serviceOf: () => OperatorService) => {
  const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET"): Promise<Got> =>
    new Promise((resolve, reject) => {
      const options = { method, headers, ca: readFileSync(serviceOf().caFile), agent: false as const }
      request(`${serviceOf().url}${path}`, options, (incoming) => {
        let body = ""
        incoming.on("data", (chunk) => void (body += String(chunk)))
        incoming.on("end", () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body }))
      })
        .on("error", reject)
        .end()
    })

  const linkOf = async (role: Parameters<OperatorService["done"]>[1] = "ADMIN"): Promise<URL> =>
    new URL((await serviceOf().done(["atlas"], role)).url)

  const cookieOf = async (link: URL): Promise<string> => {
    const [cookie = ""] = ((await get(`${link.pathname}${link.search}`)).headers["set-cookie"] ??
      []) as ReadonlyArray<string>
    return cookie.split(";", 1)[0] ?? ""
  }

  return { get, linkOf, cookieOf }
}
