// RFC 9110 and RFC 9112 let a server send much before and around its answer: the verbs are the same whatever it is.
import { afterEach, describe, expect, it } from 'vitest'
import { answering, crlf, lengthOf, toAnswer, ways, type Way } from '../../test/support/http-answers.ts'
import { ThreadTime } from '../lib/bounds/thread-time.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createOutgoing } from '../outgoing/create-outgoing.ts'
import { createAppEnv } from './create-app-env.ts'
import { createHooks } from './create-hooks.ts'

const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of closing.splice(0)) await one.close()
})

const verbs = [{ verb: 'say', text: 'grüße' }]
const variables = { name: { type: 'string', description: 'grüße' } }

/** Ways of JSON alone. */
const waysOfJson: Readonly<Record<string, Way>> = {
  'a byte order mark': { framed: (body) => lengthOf(Buffer.concat([Buffer.from('\uFEFF'), body])) },
  'white space around it': {
    framed: (body) => lengthOf(Buffer.concat([Buffer.from('\r\n\t '), body, Buffer.from('\n\n')])),
  },
}

async function asking(answer: Buffer, ends: boolean): Promise<string> {
  const server = await answering(answer, ends)
  closing.push(server)
  return server.url
}

function parts() {
  const outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger })
  closing.push(outgoing)
  const threadTime = new ThreadTime({ clock: systemClock })
  const hooks = createHooks({
    outgoing,
    signingSecret: () => Promise.resolve('wh_secret_test'),
    clock: systemClock,
    log: silentLogger,
    userAgent: 'switchhook/test',
    threadTime,
    budgets: { answerMs: 60_000, totalMs: 60_000 },
  })
  const ask = (url: string) =>
    hooks.ask({
      account_sid: 'a',
      hook: { url, method: 'POST', username: null, password: null },
      payload: { call_sid: 'c' },
    })
  return { ask, appEnv: createAppEnv({ outgoing, threadTime }) }
}

describe('the answer of an application', () => {
  it.each(Object.entries({ ...ways, ...waysOfJson }))('is read with %s', async (_, way) => {
    const { ask, appEnv } = parts()
    const ofHook = await asking(toAnswer(way, Buffer.from(JSON.stringify(verbs))), way.ends ?? false)
    expect(await ask(ofHook)).toMatchObject({ status: 200, body: verbs })
    // The connection is as good as before.
    expect(await ask(ofHook)).toMatchObject({ status: 200, body: verbs })
    const ofApp = await asking(toAnswer(way, Buffer.from(JSON.stringify(variables))), way.ends ?? false)
    expect(await appEnv.ask(ofApp)).toEqual({ outcome: 'schema', schema: variables })
  })

  it.each<[string, string]>([
    ['204', `HTTP/1.1 204 No Content${crlf}${crlf}`],
    ['204 with a content type', `HTTP/1.1 204 No Content${crlf}Content-Type: application/json${crlf}${crlf}`],
    ['202 without a body', `HTTP/1.1 202 Accepted${crlf}Content-Length: 0${crlf}${crlf}`],
    ['200 without a body', `HTTP/1.1 200 OK${crlf}Content-Length: 0${crlf}${crlf}`],
    [
      '200 without a body, as JSON',
      `HTTP/1.1 200 OK${crlf}Content-Type: application/json${crlf}Content-Length: 0${crlf}${crlf}`,
    ],
    [
      '200 without a body, in chunks',
      `HTTP/1.1 200 OK${crlf}Content-Type: application/json${crlf}Transfer-Encoding: chunked${crlf}${crlf}0${crlf}${crlf}`,
    ],
    ['200 and a text without a content type', `HTTP/1.1 200 OK${crlf}Content-Length: 2${crlf}${crlf}OK`],
    [
      '200 and a text that is no JSON',
      `HTTP/1.1 200 OK${crlf}Content-Type: text/plain${crlf}Content-Length: 2${crlf}${crlf}OK`,
    ],
  ])('counts as none with %s', async (_, answer) => {
    const { ask, appEnv } = parts()
    const url = await asking(Buffer.from(answer), false)
    expect((await ask(url)).body).toBeUndefined()
    expect(await appEnv.ask(url)).toEqual({ outcome: 'none' })
  })

  it.each<[string, string, string]>([
    ...['301', '302', '303', '307', '308'].map((status): [string, string, string] => [
      status,
      `HTTP/1.1 ${status} Moved${crlf}Location: /other${crlf}Content-Length: 0${crlf}${crlf}`,
      'hook_bad_status',
    ]),
    ['304', `HTTP/1.1 304 Not Modified${crlf}${crlf}`, 'hook_bad_status'],
    [
      'an encoding that was not asked for',
      `HTTP/1.1 200 OK${crlf}Content-Type: application/json${crlf}Content-Encoding: gzip${crlf}Content-Length: 2${crlf}${crlf}[]`,
      'hook_invalid_payload',
    ],
  ])('is refused by name with %s', async (_, answer, code) => {
    const { ask } = parts()
    await expect(ask(await asking(Buffer.from(answer), false))).rejects.toMatchObject({ code })
  })
})
