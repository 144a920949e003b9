// The server of the softphone page and its account data, on the loopback, which browsers trust as they do HTTPS.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pageHeaders, pageStyle } from '../run/page-policy.ts'
import { bundle } from './bundle.ts'

export interface SoftphoneAccount {
  /** The address of SIP over WebSockets: `ws://127.0.0.1:3000`. */
  readonly server: string
  /** The same at an address of the network, for Firefox, which sends no sound to the loopback. */
  readonly networkServer?: string | undefined
  readonly realm: string
  readonly username: string
  readonly password: string
  /** The number that the page proposes to call. */
  readonly number: string
}

export interface SoftphonePage {
  /** The link has a random word in its path, because the page holds a password. */
  readonly url: string
  close(): Promise<void>
}

/** Returns the script of the SIP library for the page. Rejects with a cure if the package is not installed. */
export function softphoneScript(): Promise<string> {
  return bundle('jssip', 'JsSIP').catch((cause: unknown) => {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'MODULE_NOT_FOUND')) throw cause
    throw new Error(
      'The softphone for browsers needs the package jssip, which npm ci --omit=dev leaves out. Run npm ci.',
      { cause },
    )
  })
}

export async function serveSoftphone(account: SoftphoneAccount, given?: string): Promise<SoftphonePage> {
  const word = randomBytes(9).toString('base64url')
  const page = await readFile(join(import.meta.dirname, 'softphone.html'), 'utf8')
  const { server: at, networkServer, realm, username, password, number } = account
  const shown = JSON.stringify({ server: at, networkServer, realm, username, password, number })
  // `<` could end the script that holds this text.
  const html = page.replace("'ACCOUNT'", () => shown.replaceAll('<', '\\u003c'))
  const parts: Readonly<Record<string, readonly [Readonly<Record<string, string>>, string]>> = {
    [`/${word}`]: [pageHeaders(html, networkServer === undefined ? [at] : [at, networkServer]), html],
    '/jssip.js': [{ 'content-type': 'text/javascript; charset=utf-8' }, given ?? (await softphoneScript())],
    '/page.css': [{ 'content-type': 'text/css; charset=utf-8' }, await pageStyle()],
  }
  const server = createServer((request, response) => {
    const [headers, text] = parts[request.url ?? ''] ?? [{}, undefined]
    response.writeHead(text === undefined ? 404 : 200, headers).end(text)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://localhost:${port}/${word}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
