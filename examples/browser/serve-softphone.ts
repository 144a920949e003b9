// The server of the softphone page and its account data, on the loopback, which browsers trust as they do HTTPS.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { bundle } from './bundle.ts'

export interface SoftphoneAccount {
  /** The address of SIP over WebSockets: `ws://127.0.0.1:3000`. */
  readonly server: string
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

const types = { html: 'text/html; charset=utf-8', script: 'text/javascript; charset=utf-8' }

export async function serveSoftphone(account: SoftphoneAccount): Promise<SoftphonePage> {
  const word = randomBytes(9).toString('base64url')
  const page = await readFile(join(import.meta.dirname, 'softphone.html'), 'utf8')
  // `<` could end the script that holds this text.
  const { server: at, realm, username, password, number } = account
  const shown = JSON.stringify({ server: at, realm, username, password, number })
  const html = page.replace("'ACCOUNT'", () => shown.replaceAll('<', '\\u003c'))
  const script = await bundle('jssip', 'JsSIP')
  const server = createServer((request, response) => {
    const content =
      request.url === `/${word}`
        ? { type: types.html, text: html }
        : request.url === '/jssip.js'
          ? { type: types.script, text: script }
          : undefined
    response.writeHead(content === undefined ? 404 : 200, {
      'content-type': content?.type ?? 'text/plain',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    })
    response.end(content?.text)
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
