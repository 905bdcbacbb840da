/**
 * The receiver's own server certificate from the local authority of a sandbox's data directory, which the service trusts for
 * the hosts of `--allow-webhook-host`. It stays in memory, and each receiver gets a new one (operator surface, `sim partner
 * listen`: TLS from the local CA).
 */
import { Effect } from "effect"
import { createPrivateKey, randomBytes, webcrypto } from "node:crypto"
import { ReceiverNotStarted } from "./WebhookReceiver.ts"

export interface LocalAuthorityPair {
  /** PEM texts of DATA_DIR/tls/ca.pem and ca.key. */
  readonly certificate: string
  readonly key: string
}

const dayMillis = 86_400_000
/** Validity of a certificate: a receiver never runs that long, because it ends with its terminal. */
const validDays = 30
const curve = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" }

/** A key and a certificate for 127.0.0.1 and localhost. `now`: Unix ms. */
export const issueReceiverCertificate = (
  authority: LocalAuthorityPair,
  now: number
): Effect.Effect<{ readonly cert: string; readonly key: string }, ReceiverNotStarted> =>
  Effect.tryPromise({
    try: async () => {
      // The certificate library fails without the reflection polyfill, so the polyfill is loaded first.
      await import("reflect-metadata")
      const x509 = await import("@peculiar/x509")
      const signer = new x509.X509Certificate(authority.certificate)
      const signingKey = await webcrypto.subtle.importKey(
        "pkcs8",
        createPrivateKey(authority.key).export({ type: "pkcs8", format: "der" }),
        curve,
        false,
        ["sign"]
      )
      const keys = await webcrypto.subtle.generateKey(curve, true, ["sign", "verify"])
      const certificate = await x509.X509CertificateGenerator.create({
        serialNumber: `4${randomBytes(15).toString("hex").slice(1)}`, // positive, never shortened
        subject: "CN=Simulated partner",
        issuer: signer.subject,
        notBefore: new Date(now - dayMillis),
        notAfter: new Date(Math.min(now + validDays * dayMillis, signer.notAfter.getTime())),
        signingAlgorithm: curve,
        publicKey: keys.publicKey,
        signingKey,
        extensions: [
          new x509.BasicConstraintsExtension(false, undefined, true),
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
          new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
          new x509.SubjectAlternativeNameExtension([
            { type: "ip", value: "127.0.0.1" },
            { type: "dns", value: "localhost" }
          ]),
          await x509.AuthorityKeyIdentifierExtension.create(signer),
          await x509.SubjectKeyIdentifierExtension.create(keys.publicKey)
        ]
      })
      const key = x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY")
      return { cert: `${certificate.toString("pem")}\n`, key: `${key}\n` }
    },
    catch: () => new ReceiverNotStarted({ sentence: "The local authority can not issue a certificate." })
  })
