// A stand-in for Azure Blob Storage.
import {
  bucket,
  hmac,
  sendObject,
  sendXml,
  serveVendor,
  type BucketRequest,
  type BucketStandIn,
} from './bucket-stand-in.ts'

export interface AzureAccount {
  readonly account: string
  /** The account's key in base64. */
  readonly key: string
  /** The query of a shared access signature, which is accepted instead of a signed request. */
  readonly signature?: string
}

/** Checks a signature: "Authorize with Shared Key", Azure Storage REST API Reference. */
function isSignedForAzure({ method, path, url, headers, body }: BucketRequest, known: AzureAccount): boolean {
  if (known.signature !== undefined && url.search === `?${known.signature}`) return true
  const standard = [
    'content-encoding',
    'content-language',
    'content-length',
    'content-md5',
    'content-type',
    'date',
    'if-modified-since',
    'if-match',
    'if-none-match',
    'if-unmodified-since',
    'range',
  ].map((name) => (name === 'content-length' && body.length === 0 ? '' : String(headers[name] ?? '')))
  const own = Object.keys(headers)
    .filter((name) => name.startsWith('x-ms-'))
    .sort()
    .map((name) => `${name}:${String(headers[name])}`)
  const toSign = [method, ...standard, ...own, `/${known.account}${path}`].join('\n')
  const signature = hmac(Buffer.from(known.key, 'base64'), toSign).toString('base64')
  return headers.authorization === `SharedKey ${known.account}:${signature}`
}

/** Serves Azure Blob Storage with the account in the host name. */
export function serveAzure(known: AzureAccount): Promise<BucketStandIn> {
  return serveVendor((request, response, objects) => {
    const { headers, body: bytes } = request
    if (!isSignedForAzure(request, known) || headers['x-ms-version'] === undefined)
      return sendXml(
        response,
        403,
        'AuthenticationFailed',
        'Server failed to authenticate the request. Make sure the signature is formed correctly.\nRequestId:1\nTime:2026-11-21T08:30:00Z',
      )
    const name = decodeURIComponent(request.path.slice(1))
    if (!name.startsWith(`${bucket}/`))
      return sendXml(response, 404, 'ContainerNotFound', 'The specified container does not exist.')
    const object = objects.get(name)
    if (request.method === 'PUT') {
      if (headers['x-ms-blob-type'] !== 'BlockBlob')
        return sendXml(response, 400, 'InvalidHeaderValue', 'x-ms-blob-type')
      const tags = Object.fromEntries(new URLSearchParams(String(headers['x-ms-tags'] ?? '')))
      objects.set(name, { bytes, contentType: headers['content-type'], tags })
      return response.writeHead(201).end()
    }
    if (object === undefined)
      return sendXml(response, 404, 'BlobNotFound', 'The specified blob does not exist.')
    if (request.method === 'GET') return sendObject(response, object, headers.range)
    objects.delete(name)
    return response.writeHead(202).end()
  })
}
