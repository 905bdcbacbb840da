/**
 * The certificate of a local webhook receiver: one from the local authority of the service's data directory, or the given files
 * (operator surface, `sim partner listen`).
 */
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { issueReceiverCertificate } from "../simulator/partner/receiverCertificate.ts"
import { ReceiverNotStarted } from "../simulator/partner/WebhookReceiver.ts"

export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

/**
 * The receiver's certificate and key as PEM texts: those of `files`, or, without files, new ones from the authority in
 * DATA_DIR/tls.
 */
export const receiverTls = (dataDir: string, files: TlsFiles | null): Effect.Effect<TlsFiles, ReceiverNotStarted> =>
  files === null
    ? Effect.flatMap(
        read(
          join(dataDir, "tls", "ca.pem"),
          join(dataDir, "tls", "ca.key"),
          "The data directory has no local authority: name the service's with --data-dir, or use --tls-cert and --tls-key."
        ),
        ({ cert, key }) => issueReceiverCertificate({ certificate: cert, key }, Date.now())
      )
    : read(files.cert, files.key, "The files of --tls-cert and --tls-key can not be read.")

const read = (cert: string, key: string, sentence: string) =>
  Effect.try({
    try: (): TlsFiles => ({ cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") }),
    catch: () => new ReceiverNotStarted({ sentence })
  })
