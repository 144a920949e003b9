// The costliest input that each entrance accepts, times the most that may be stored. Each is work of the main thread in
// one piece, so that everything else waits for it. The bounds are several times what the work takes on a slow machine; a
// missing bound costs ten times as much.
import { describe, expect, it } from 'vitest'
import { quickestMs } from '../support/cpu.ts'
import { readAppJson } from '../../src/calls/application/app-json.ts'
import { readFrame } from '../../src/calls/channel/frames.ts'
import { byPattern } from '../../src/calls/routing/carrier-call.ts'
import { createNumberPattern } from '../../src/calls/routing/number-pattern.ts'
import { chooseCarriers } from '../../src/calls/routing/phone-call.ts'
import { readXml } from '../../src/calls/parties/read-xml.ts'
import { parseFormBody, parseJsonBody, parseMultipartBody } from '../../src/http/parse-body.ts'
import { AppError } from '../../src/lib/errors.ts'
import { compilePattern } from '../../src/lib/pattern.ts'
import { foreignJson, readJson } from '../../src/lib/read-json.ts'
import { parseSdp } from '../../src/media/sdp/sdp.ts'
import { parseMessage } from '../../src/sip/message/parse-message.ts'
import { validateRequest } from '../../src/sip/message/validate.ts'
import { readMessage } from '../../src/streams/server-message.ts'
import { parseVerbs } from '../../src/verbs/index.ts'
import { schemaFault, valuesFault, type AppEnvSchema } from '../../src/webhooks/app-env.ts'

const list = (member: string, count: number): string => `[${Array<string>(count).fill(member).join(',')}]`
/** The most empty objects that JSON of others may have. */
const objects = list('{}', foreignJson.maxValues / 2 - 1)

function orRefused(work: () => unknown): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
  }
}

const name = (index: number): string => `n${index.toString(36)}`
const variables = Object.fromEntries(
  Array.from({ length: 4000 }, (_, index) => [
    name(index),
    { type: 'string', description: 'x', default: 'y' },
  ]),
)
const given = Object.fromEntries(Object.keys(variables).map((key) => [key, 'z']))

const verbs = {
  say: { verb: 'say', text: 'x', loop: '2', synthesizer: { vendor: 'default', language: 'en', voice: 'x' } },
  gather: {
    verb: 'gather',
    input: ['digits'],
    actionHook: { url: '/x' },
    numDigits: '4',
    say: { text: 'x' },
  },
  dial: {
    verb: 'dial',
    actionHook: '/x',
    timeLimit: '30',
    target: Array.from({ length: 5 }, () => ({ type: 'phone', number: '15551230100', trunk: 'x' })),
    headers: { 'X-A': 'b' },
  },
  'dial to ten': { verb: 'dial', target: Array.from({ length: 10 }, () => ({ type: 'teams', number: '1' })) },
  unknown: {
    verb: 'tag',
    data: {},
    ...Object.fromEntries(Array.from({ length: 15 }, (_, n) => [name(n), 1])),
  },
}

const head =
  'Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKx\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:c@d>\r\nCall-ID: x\r\n'
const sip = (method: string, rest: string, body = ''): Uint8Array =>
  Buffer.from(
    `${method} sip:a@b SIP/2.0\r\n${head}CSeq: 1 ${method}\r\n${rest}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
const capabilities = { allow: ['INVITE', 'REGISTER'], supported: [], accept: ['application/sdp'] }
const readSip = (bytes: Uint8Array): void => {
  const message = parseMessage(bytes)
  if (message.kind === 'request') validateRequest(message, capabilities)
}
const lines = (line: string, bytes: number): string =>
  `${line}\r\n`.repeat(Math.floor(bytes / (line.length + 2)))

const number = '1'.repeat(32)
const costliest = (index: number): string => `(1?|.){29}x${index}`
const carrier = {
  voip_carrier_sid: 'c',
  name: 'c',
  account_sid: null,
  service_provider_sid: null,
  application_sid: null,
  registration: undefined,
}
const patterns = Array.from({ length: 1000 }, (_, index) => {
  const [voip_carrier_sid, account_sid] = ['c', `a${index % 10}`]
  const facts = { number: costliest(index), voip_carrier_sid, account_sid, application_sid: null }
  const pattern = createNumberPattern(facts)
  if (pattern === undefined) throw new Error('not a pattern')
  return pattern
})
const routes = patterns.slice(0, 100).map(({ number: regex }) => {
  const pattern = compilePattern(regex)
  if (pattern === undefined) throw new Error('not a pattern')
  return { ...pattern, regex, entries: [] }
})

describe('the costliest input takes a bounded time of the main thread', () => {
  it.each<[string, number, () => unknown]>([
    ['a REST body of many values', 100, () => parseJsonBody(objects)],
    ['a REST body of one text', 100, () => parseJsonBody(`"${'\\n'.repeat(500_000)}"`)],
    ['a REST body of too many values', 100, () => parseJsonBody(list('{}', 340_000))],
    ['a form', 100, () => parseFormBody(Array.from({ length: 1000 }, (_, n) => `${name(n)}=%41`).join('&'))],
    ['a form of too many names', 50, () => parseFormBody('a=b&'.repeat(250_000))],
    ['a form of one text', 200, () => parseFormBody(`a=${'%41'.repeat(340_000)}`)],
    ['the answer of a hook, and no verbs', 100, () => parseVerbs(readJson(objects))],
    ...Object.entries(verbs).map(([verb, one]): [string, number, () => unknown] => {
      const text = JSON.stringify(one)
      const values = text.split(/[,[{]/).length
      const most = Math.min(
        1000,
        Math.floor(foreignJson.maxLength / (text.length + 1)),
        Math.floor((foreignJson.maxValues - 1) / values),
      )
      return [`the answer of a hook with ${verb}`, 100, () => parseVerbs(readJson(list(text, most)))]
    }),
    ['app_json', 100, () => parseVerbs(readAppJson(objects))],
    ['a message of an application', 100, () => readFrame(`{"type":"ack","msgid":"x","data":${objects}}`)],
    ['a message of an audio server', 100, () => readMessage(`{"type":"mark","data":${list('{}', 9000)}}`)],
    ['the variables of an application', 200, () => schemaFault(readJson(JSON.stringify(variables)))],
    ['the values of variables', 100, () => valuesFault(variables as AppEnvSchema, given)],
    ['an INVITE of many headers', 100, () => readSip(sip('INVITE', lines('X-A: b', 60_000)))],
    [
      'an INVITE of many values in one header',
      100,
      () => readSip(sip('INVITE', `Route: ${'<sip:a@b;lr>,'.repeat(600)}<sip:a@b>\r\n`)),
    ],
    [
      'a REGISTER of many contacts',
      100,
      () => readSip(sip('REGISTER', lines('Contact: <sip:a@b>;expires=1', 60_000))),
    ],
    [
      'SDP of many attributes',
      100,
      () =>
        parseSdp(
          `v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n${lines('a=x:y', 60_000)}`,
        ),
    ],
    [
      'SDP of many lines of media',
      100,
      () =>
        parseSdp(
          `v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\n${lines('m=audio 4000 RTP/AVP 0', 60_000)}`,
        ),
    ],
    ['metadata of SIPREC', 100, () => readXml(`<a>${'<b c="d"/>'.repeat(6000)}</a>`)],
    ['metadata of SIPREC, nested', 100, () => readXml(`${'<b>'.repeat(9000)}${'</b>'.repeat(9000)}`)],
    [
      'the patterns of a shared carrier',
      50,
      () => byPattern({ called: number, account: undefined, matches: [{ carrier, netmask: 32 }] }, patterns),
    ],
    [
      'a table of least cost routing',
      50,
      () =>
        chooseCarriers(
          { number, trunk: undefined },
          { carriers: [], plan: { routes, fallback: undefined }, carrierOfCaller: undefined },
          () => 0,
        ),
    ],
  ])('%s: %i ms at most', (_, maxMs, work) => {
    expect(quickestMs(() => orRefused(work), maxMs)).toBeLessThan(maxMs)
  })

  it.each<[string, string]>([
    ['parts', `--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n`.repeat(2400)],
    ['lines', `--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n${'x\r\n'.repeat(9000)}`],
    ['parameters', `--b\r\nContent-Disposition: form-data; name="a"${';a=b'.repeat(150_000)}\r\n\r\nx\r\n`],
  ])('a multipart body of many %s: 200 ms at most', async (_, body) => {
    const bytes = Buffer.from(`${body}--b--\r\n`)
    let best = Infinity
    for (let run = 0; run < 5 && best >= 200; run += 1) {
      const before = process.cpuUsage()
      await parseMultipartBody(bytes, 'multipart/form-data; boundary=b').catch((error: unknown) => {
        if (!(error instanceof AppError)) throw error
      })
      const { user, system } = process.cpuUsage(before)
      best = Math.min(best, (user + system) / 1000)
    }
    expect(best).toBeLessThan(200)
  })
})
