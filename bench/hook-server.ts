// The application of the call benchmarks: it answers each call, stays silent, and counts its requests.
import http from 'node:http'
import type { AddressInfo } from 'node:net'

export interface HookServer {
  readonly origin: string
  readonly counts: { hooks: number; statuses: number }
  close(): void
}

export function answerAndPause(seconds: number): readonly object[] {
  return [{ verb: 'answer' }, { verb: 'pause', length: seconds }]
}

/** Starts a server that does as little as possible: its own cost is not to be measured. */
export async function startHookServer(script: readonly object[] = answerAndPause(10)): Promise<HookServer> {
  const counts = { hooks: 0, statuses: 0 }
  const verbs = JSON.stringify(script)
  const server = http.createServer((request, response) => {
    const isHook = request.url === '/call'
    counts[isHook ? 'hooks' : 'statuses'] += 1
    request.resume()
    request.on('end', () => {
      if (isHook) response.writeHead(200, { 'content-type': 'application/json' }).end(verbs)
      else response.writeHead(200).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    counts,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
