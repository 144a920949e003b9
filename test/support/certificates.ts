// Certificates for tests, made by openssl: an authority, and certificates that it issues with any fault a test wants.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Certificate {
  readonly key: string
  readonly certificates: string
  /** The files of the key and the certificates, for programs. */
  readonly keyFile: string
  readonly certificateFile: string
}

export interface CertificateWish {
  /** The names as in a subject alternative name: `DNS:a.example,IP:127.0.0.1,URI:sip:a.example`. */
  readonly names: string
  /** The validity in days; a certificate with a negative one has expired. */
  readonly days?: number
  readonly isSelfSigned?: boolean
  /** Whether its key is RSA with 2,048 bits, which takes longer to make than the usual curve. */
  readonly isRsa?: boolean
  /** Whether it has a TNAuthorizationList (RFC 8226). */
  readonly isForNumbers?: boolean
  /** Whether it may issue others: give it as `by`. */
  readonly isAuthority?: boolean
  readonly by?: Certificate
}

export interface Authority {
  readonly certificate: string
  readonly certificateFile: string
  readonly folder: string
  issue(wish: CertificateWish): Certificate
  /** Returns a revocation list in PEM of these certificates, which it issued. */
  revoke(...revoked: readonly Certificate[]): string
  /** Removes the files. */
  remove(): void
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

/** The key and the signature algorithm of an authority, by the kind of its key. */
const authorities = {
  ecdsa: { newKey, digest: 'sha256', options: [] },
  ed25519: { newKey: ['-newkey', 'ed25519', '-nodes'], digest: 'default', options: [] },
  'rsa-pss': {
    newKey: ['-newkey', 'rsa:2048', '-nodes'],
    digest: 'sha256',
    options: ['-sigopt', 'rsa_padding_mode:pss'],
  },
} as const

export function createAuthority(kind: keyof typeof authorities = 'ecdsa'): Authority {
  const signing = authorities[kind]
  const folder = mkdtempSync(join(tmpdir(), 'switchhook-certificates-'))
  const at = (name: string): string => join(folder, name)
  const openssl = (...args: readonly string[]): void => {
    execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: folder })
  }
  const subject = ['-subj', '/CN=Authority of tests', '-addext', 'basicConstraints=critical,CA:TRUE']
  openssl('req', '-x509', ...signing.newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', ...subject)
  let issued = 0
  return {
    folder,
    certificate: readFileSync(at('ca.pem'), 'utf8'),
    certificateFile: at('ca.pem'),
    issue({ names, days = 2, isSelfSigned = false, isRsa = false, by, ...more }) {
      issued += 1
      const [key, request, certificate, extensions] = ['key', 'csr', 'pem', 'ext'].map(
        (ending) => `${issued}.${ending}`,
      ) as [string, string, string, string]
      // The list holds a service provider code.
      const numbers = more.isForNumbers === true ? '1.3.6.1.5.5.7.1.26=DER:3008a006160431323334\n' : ''
      const authority = more.isAuthority === true ? 'basicConstraints=critical,CA:TRUE\n' : ''
      writeFileSync(at(extensions), `subjectAltName=${names}\n${numbers}${authority}`)
      const made = isRsa ? ['-newkey', 'rsa:2048', '-nodes'] : newKey
      openssl('req', ...made, '-keyout', key, '-out', request, '-subj', `/CN=test ${issued}`)
      const signer = isSelfSigned
        ? ['-signkey', key]
        : [
            '-CA',
            by?.certificateFile ?? 'ca.pem',
            '-CAkey',
            by?.keyFile ?? 'ca.key',
            '-set_serial',
            String(issued),
          ]
      const signed = ['-days', String(days), '-extfile', extensions, '-out', certificate]
      openssl('x509', '-req', '-in', request, ...signer, ...signed)
      return {
        key: readFileSync(at(key), 'utf8'),
        certificates: readFileSync(at(certificate), 'utf8'),
        keyFile: at(key),
        certificateFile: at(certificate),
      }
    },
    revoke(...revoked) {
      const config = `[ca]\ndefault_ca = own\n[own]\ndatabase = ${at('index.txt')}\ndefault_md = ${signing.digest}\ndefault_crl_days = 2\n`
      writeFileSync(at('ca.conf'), config)
      writeFileSync(at('index.txt'), '')
      const signer = ['-config', 'ca.conf', '-keyfile', 'ca.key', '-cert', 'ca.pem', ...signing.options]
      for (const { certificateFile } of revoked) openssl('ca', ...signer, '-revoke', certificateFile)
      openssl('ca', ...signer, '-gencrl', '-out', 'crl.pem')
      return readFileSync(at('crl.pem'), 'utf8')
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
