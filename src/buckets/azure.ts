// Azure Blob Storage over REST, with a connection string that holds the account's key or a shared access signature.
import { createHmac } from 'node:crypto'
import { bodyOf, sizeOf } from './content.ts'
import { methodOf, rangeOf, type BucketVendor, type BucketVendorOptions } from './vendor.ts'
import { baseUrl, bucketName, neededPart, pathOf, toTagHeader, unusable } from './credential.ts'

const serviceVersion = '2021-12-02'

interface Connection {
  /** The address of the blob service, without a slash at the end. */
  readonly endpoint: string
  readonly access:
    | { readonly by: 'key'; readonly account: string; readonly key: string }
    | { readonly by: 'signature'; readonly signature: string }
}

export function createAzure({ clock }: BucketVendorOptions): BucketVendor {
  return {
    name: 'azure',
    tellsWhatIsMissing: true,
    async sign(action, { credential }) {
      const text = neededPart(credential, 'connection_string')
      const { endpoint, access } = parseConnectionString(text)
      const url = new URL(`${endpoint}/${bucketName(credential)}/${pathOf(action.key)}`)
      const method = methodOf[action.act]
      const body = action.act === 'put' ? bodyOf(action.content) : undefined
      const headers = {
        'x-ms-date': new Date(clock.now()).toUTCString(),
        'x-ms-version': serviceVersion,
        ...(action.act === 'put'
          ? {
              'content-type': action.contentType,
              'x-ms-blob-type': 'BlockBlob',
              ...toTagHeader('x-ms-tags', credential),
            }
          : {}),
        ...rangeOf(action),
      }
      const content = body === undefined ? {} : { body }
      if (access.by === 'signature') {
        url.search = access.signature
        const secrets = [text, access.signature, url.search, url.searchParams.get('sig') ?? '']
        return { method, url: url.href, headers, ...content, secrets }
      }
      const { account, key } = access
      const toSign = textToSign({
        method,
        headers,
        length: action.act === 'put' ? sizeOf(action.content) : 0,
        resource: `/${account}${url.pathname}`,
      })
      const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(toSign).digest('base64')
      const authorization = `SharedKey ${account}:${signature}`
      return {
        method,
        url: url.href,
        headers: { ...headers, authorization },
        ...content,
        secrets: [text, key],
      }
    },
  }
}

interface Signed {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly length: number
  readonly resource: string
}

/**
 * Returns the text to sign: "Authorize with Shared Key",
 * learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key.
 */
function textToSign({ method, headers, length, resource }: Signed): string {
  const own = Object.keys(headers)
    .filter((name) => name.startsWith('x-ms-'))
    .sort()
  return [
    method,
    // Content-Encoding and Content-Language.
    '',
    '',
    length === 0 ? '' : String(length),
    // Content-MD5.
    '',
    headers['content-type'] ?? '',
    // Date, which x-ms-date replaces; If-Modified-Since, If-Match, If-None-Match, If-Unmodified-Since.
    ...['', '', '', '', ''],
    headers['range'] ?? '',
    ...own.map((name) => `${name}:${headers[name]}`),
    resource,
  ].join('\n')
}

/**
 * Parses a string of "Configure Azure Storage connection strings",
 * learn.microsoft.com/azure/storage/common/storage-configure-connection-string.
 */
function parseConnectionString(text: string): Connection {
  const parts = partsOf(text)
  const account = parts.get('accountname')
  const key = parts.get('accountkey')
  const signature = parts.get('sharedaccesssignature')
  const endpoint = endpointIn(parts)
  if (account !== undefined && key !== undefined) {
    if (!accountPattern.test(account) || !/^[A-Za-z0-9+/]+={0,2}$/.test(key))
      throw unusable('has a connection_string with an AccountName or AccountKey that cannot be one')
    return { endpoint, access: { by: 'key', account, key } }
  }
  if (signature === undefined)
    throw unusable(
      'has a connection_string with neither AccountName and AccountKey nor SharedAccessSignature',
    )
  return { endpoint, access: { by: 'signature', signature: signature.replace(/^\?/, '') } }
}

/** Returns the parts by their names in lower case. */
function partsOf(text: string): ReadonlyMap<string, string> {
  const parts = new Map<string, string>()
  for (const part of text.split(';')) {
    const at = part.indexOf('=')
    if (at > 0) parts.set(part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).trim())
  }
  return parts
}

// The account name becomes part of a host name and of a header.
const accountPattern = /^[a-z0-9-]{1,63}$/i

function endpointIn(parts: ReadonlyMap<string, string>): string {
  const account = parts.get('accountname') ?? ''
  const protocol = parts.get('defaultendpointsprotocol') ?? 'https'
  const suffix = parts.get('endpointsuffix') ?? 'core.windows.net'
  const given = parts.get('blobendpoint')
  if (given === undefined && !accountPattern.test(account))
    throw unusable('has a connection_string with neither BlobEndpoint nor AccountName')
  return baseUrl(given ?? `${protocol}://${account}.blob.${suffix}`, 'a connection_string with an endpoint')
}
