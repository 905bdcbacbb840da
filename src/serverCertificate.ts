/** The certificate of a listener: the operator's own, or one that the local authority of the data directory issued. */
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { createSecureContext } from "node:tls"
import type { DataFiles } from "./runtime/adapters/dataDirectory.ts"
import { LocalAuthority } from "./runtime/adapters/LocalAuthority.ts"
import { ServeError } from "./ServeError.ts"
import type { ServeOptions } from "./serveOptions.ts"

/** The certificate and the key of a listener as PEM texts; `caFile` is null for a certificate of the operator's own. */
export const serverCertificate = ({ tls, host }: Pick<ServeOptions, "tls" | "host">, files: DataFiles) =>
  tls === null
    ? Effect.map(LocalAuthority.ensure({ dataDirectory: files.root, host }), (made) => ({
        cert: made.certificate,
        key: made.key,
        caFile: made.caFile as string | null
      }))
    : Effect.try({
        try: () => ({
          cert: readFileSync(tls.certFile, "utf8"),
          key: readFileSync(tls.keyFile, "utf8"),
          caFile: null as string | null
        }),
        catch: () => new ServeError({ sentence: "The files of --tls-cert and --tls-key can not be read." })
      }).pipe(
        Effect.tap((pair) =>
          Effect.try({
            try: () => createSecureContext({ cert: pair.cert, key: pair.key }),
            catch: () =>
              new ServeError({ sentence: "--tls-cert and --tls-key are not a certificate and its key, in PEM form." })
          })
        )
      )

/** The host that clients on this machine use for a bound address. */
export const urlHost = (host: string): string => {
  if (host === "0.0.0.0" || host === "::") return "localhost"
  return host.includes(":") ? `[${host}]` : host
}
