// A stand-in for Google Cloud Storage.
import { createPublicKey } from 'node:crypto'
import { importSPKI, jwtVerify } from 'jose'
import { bucket, sendObject, serveVendor, type BucketStandIn } from './bucket-stand-in.ts'

export interface GoogleAccount {
  readonly email: string
  /** The public key in PEM. */
  readonly publicKey: string
  /** The clock for the validity of the assertions. */
  readonly now: () => number
}

const googleToken = 'ya29.token-of-google'

/** Serves Google Cloud Storage by its JSON interface, and its token server at `/token`. */
export async function serveGoogle({ email, publicKey, now }: GoogleAccount): Promise<BucketStandIn> {
  const key = await importSPKI(
    createPublicKey(publicKey).export({ type: 'spki', format: 'pem' }).toString(),
    'RS256',
  )
  const storage = await serveVendor(async (request, response, objects) => {
    const { url, headers, body, method } = request
    const send = (status: number, answer: object): unknown =>
      response
        .writeHead(status, { 'content-type': 'application/json; charset=UTF-8' })
        .end(JSON.stringify(answer))
    const refuse = (status: number, message: string): unknown =>
      send(status, { error: { code: status, message, errors: [{ message, domain: 'global' }] } })
    if (url.pathname === '/token') {
      const form = new URLSearchParams(body.toString())
      const verified = await jwtVerify(form.get('assertion') ?? '', key, {
        issuer: email,
        audience: `${storage.url}/token`,
        currentDate: new Date(now()),
      }).catch(() => undefined)
      if (verified?.payload['scope'] !== 'https://www.googleapis.com/auth/devstorage.read_write')
        return send(400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' })
      return send(200, { access_token: googleToken, expires_in: 3599, token_type: 'Bearer' })
    }
    if (headers.authorization !== `Bearer ${googleToken}`) return refuse(401, 'Invalid Credentials')
    const [, wanted, key64 = ''] =
      /^(?:\/upload)?\/storage\/v1\/b\/([^/]+)\/o(?:\/(.+))?$/.exec(request.path) ?? []
    if (wanted !== bucket) return refuse(404, 'The specified bucket does not exist.')
    if (method === 'POST') {
      const upload = parseRelated(String(headers['content-type']), body)
      if (url.search !== '?uploadType=multipart' || upload === undefined) return refuse(400, 'Bad upload')
      const { name, contentType, metadata } = JSON.parse(upload.facts) as {
        readonly name: string
        readonly contentType: string
        readonly metadata: Record<string, string>
      }
      objects.set(`${bucket}/${name}`, { contentType, bytes: upload.media, tags: metadata })
      return send(200, { kind: 'storage#object', name })
    }
    const name = `${bucket}/${decodeURIComponent(key64)}`
    const object = objects.get(name)
    if (object === undefined) return refuse(404, `No such object: ${name}`)
    if (method === 'GET')
      return url.search === '?alt=media' ? sendObject(response, object, headers.range) : send(200, { name })
    objects.delete(name)
    return response.writeHead(204).end()
  })
  return storage
}

/** Parses multipart/related (RFC 2387) with two parts. */
function parseRelated(contentType: string, body: Buffer): { facts: string; media: Buffer } | undefined {
  const boundary = /^multipart\/related; boundary=([\w-]+)$/.exec(contentType)?.[1]
  const text = body.toString('latin1')
  const parts = text.split(new RegExp(`(?:^|\r\n)--${boundary}(?:--\r\n$|\r\n)`))
  const [, facts, media] = parts
  if (parts.length !== 4 || facts === undefined || media === undefined) return undefined
  const contentOf = (part: string): Buffer => Buffer.from(part.slice(part.indexOf('\r\n\r\n') + 4), 'latin1')
  return { facts: contentOf(facts).toString('utf8'), media: contentOf(media) }
}
