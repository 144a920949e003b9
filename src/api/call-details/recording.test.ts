// Recordings are sent from storage on loopback to real clients: slow ones, ones that leave, and patient ones.
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import type { TestTenant } from '../../../test/support/api-tenants.ts'
import { serveS3 } from '../../../test/support/s3-bucket.ts'
import type { BucketStandIn } from '../../../test/support/bucket-stand-in.ts'
import { Inbox, until } from '../../../test/support/wait.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import { createSid } from '../../lib/ids.ts'
import { endedCall } from '../../../test/support/ended-calls.ts'
import { createLogger } from '../../lib/log.ts'

const keys = { id: 'minio', secret: 'Pl4nted-bucket-secret', region: 'us-east-1' }
const sound = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 13) % 256))
const megabyte = 1024 * 1024
// Pino's number for errors.
const errorLevel = 50

interface LogLine {
  readonly level: number
  readonly msg: string
  readonly code?: string
}

let api: TestApi
let s3: BucketStandIn
const lines = new Inbox<LogLine>()

beforeAll(async () => {
  const log = createLogger('debug', { write: (line) => lines.push(JSON.parse(line) as LogLine) })
  api = await openTestApi({ log })
  await api.http.start()
  s3 = await serveS3(keys)
  for (const tenant of [api.own, api.sibling]) await setBucket(tenant)
})
afterAll(async () => {
  await api.close()
  await s3.close()
})
beforeEach(() => {
  s3.objects.clear()
  s3.received.length = 0
  s3.answered.items.length = 0
  s3.instead = undefined
})

async function setBucket({ account_sid }: TestTenant): Promise<void> {
  const bucket_credential = {
    vendor: 's3_compatible',
    name: 'recordings',
    endpoint: s3.url,
    access_key_id: keys.id,
    secret_access_key: keys.secret,
  }
  const { status, text } = await api.put(`/Accounts/${account_sid}`, api.adminKey, { bucket_credential })
  expect(status, text).toBe(204)
}

/** Ends a call, without a record if `isRecorded` is false: then only the journal has the call. */
async function endCall(tenant: TestTenant, isRecorded = true) {
  const { record, ...call } = endedCall(tenant, { attempted_at: 1 })
  const { call_sid } = call
  api.storage.calls.write(isRecorded ? { ...call, record } : { ...call, ended: true }, 'now')
  await api.storage.calls.flush()
  return call_sid
}

const pathOf = (call_sid: string, rest = '2026/11/21/wav', { account_sid } = api.own): string =>
  `/Accounts/${account_sid}/RecentCalls/${call_sid}/record/${rest}`

function keep(call_sid: string, format = 'wav', bytes = sound): void {
  const kept = { bytes, contentType: 'application/octet-stream', tags: {} }
  s3.objects.set(`recordings/2026/11/21/${call_sid}.${format}`, kept)
}

/** Returns the account's audit entries about an object. */
async function audited(sid: string): Promise<readonly object[]> {
  const query = `page=1&count=5&resource=recordings&sid=${encodeURIComponent(sid)}`
  const { status, body } = await api.get(`/AuditLog?${query}`, api.own.accountKey)
  expect(status).toBe(200)
  return (body as { readonly data: readonly object[] }).data
}

/** Makes the storage send as much as the platform accepts, up to `bytes`; `sent` counts it. */
function sendsAsMuchAsItMay(bytes: number): { readonly sent: () => number } {
  const piece = Buffer.alloc(megabyte, 's')
  let sent = 0
  s3.instead = (_request, response) => {
    response.writeHead(200, { 'content-length': bytes })
    const send = (): void => {
      while (sent < bytes && !response.destroyed) {
        sent += piece.length
        if (!response.write(piece)) return void response.once('drain', send)
      }
      response.end()
    }
    send()
    return true
  }
  return { sent: () => sent }
}

function ask(path: string, method = 'GET') {
  const request = httpRequest({
    host: '127.0.0.1',
    port: api.http.address.port,
    method,
    path: `/v1${path}`,
    headers: { authorization: `Bearer ${api.own.accountKey}` },
    agent: false,
  })
  request.on('error', () => {})
  request.end()
  return request
}

async function answerTo(path: string, method = 'GET'): Promise<IncomingMessage> {
  const [response] = (await once(ask(path, method), 'response')) as [IncomingMessage]
  response.on('error', () => {})
  return response
}

describe('GET .../RecentCalls/{call_sid}/record/{year}/{month}/{day}/{format}', () => {
  it.each(['wav', 'mp3'])(
    'answers the object of the call in the format %s, byte for byte',
    async (format) => {
      const call_sid = await endCall(api.own)
      keep(call_sid, format)
      const answer = await api.get(pathOf(call_sid, `2026/11/21/${format}`), api.own.accountKey)
      expect(answer).toMatchObject({
        status: 200,
        headers: {
          'content-type': format === 'mp3' ? 'audio/mpeg' : `audio/${format}`,
          'content-length': String(sound.length),
          'x-content-type-options': 'nosniff',
        },
      })
      expect(answer.bytes.equals(sound)).toBe(true)
      expect(s3.received.map(({ path }) => path)).toEqual([`/recordings/2026/11/21/${call_sid}.${format}`])
    },
  )

  it('answers a part of it with 206, all of it where Range names several, and 416 for a part that is not there', async () => {
    const call_sid = await endCall(api.own)
    keep(call_sid)
    const token = { authorization: `Bearer ${api.own.accountKey}` }
    const asked = (range: string, method = 'GET') =>
      fetch(`http://127.0.0.1:${api.http.address.port}/v1${pathOf(call_sid)}`, {
        method,
        headers: { ...token, range },
      })
    const part = await asked('bytes=1000-1999')
    expect([part.status, part.headers.get('content-range'), part.headers.get('content-length')]).toEqual([
      206,
      `bytes 1000-1999/${sound.length}`,
      '1000',
    ])
    expect(Buffer.from(await part.arrayBuffer()).equals(sound.subarray(1000, 2000))).toBe(true)
    const head = await asked('bytes=0-9', 'HEAD')
    expect([head.status, head.headers.get('content-length')]).toEqual([206, '10'])
    const whole = await asked('bytes=0-1,5-9')
    expect([whole.status, whole.headers.get('accept-ranges')]).toEqual([200, 'bytes'])
    await whole.body?.cancel()
    const none = await asked(`bytes=${sound.length}-`)
    expect([none.status, await none.json()]).toMatchObject([416, { code: 'range_not_satisfiable' }])
    expect(none.headers.get('content-range')).toBe(`bytes */${sound.length}`)
  })

  it('counts a Range that ends before it begins as none, and one for another state of it (RFC 9110)', async () => {
    const call_sid = await endCall(api.own)
    keep(call_sid)
    for (const asked of [{ range: 'bytes=5-2' }, { range: 'bytes=0-3', 'if-range': '"another"' }]) {
      const answer = await fetch(`http://127.0.0.1:${api.http.address.port}/v1${pathOf(call_sid)}`, {
        headers: { authorization: `Bearer ${api.own.accountKey}`, ...asked },
      })
      expect([answer.status, answer.headers.get('content-length')]).toEqual([200, String(sound.length)])
      await answer.body?.cancel()
    }
  })

  it('answers the object that an application has placed elsewhere, of that format alone', async () => {
    const call_sid = await endCall(api.own)
    const { account_sid } = api.own
    const [key, spool] = [`weekly/${call_sid}.wav`, createSid()]
    const begun = { change: 'begun', key, format: 'wav', spool, at: 1, notice: undefined } as const
    const stored = { change: 'stored', place: 'bucket', bytes: 4, at: 2 } as const
    const call = { call_sid, account_sid, events: [], notifications: [] }
    api.storage.calls.write({ ...call, recordings: [begun, stored] }, 'now')
    await api.storage.calls.flush()
    s3.objects.set(`recordings/${key}`, { bytes: sound, contentType: 'audio/wav', tags: {} })
    expect((await answerTo(pathOf(call_sid))).statusCode).toBe(200)
    expect((await answerTo(pathOf(call_sid, '2026/11/21/mp3'))).statusCode).toBe(404)
    expect((await api.delete(pathOf(call_sid), api.own.accountKey)).status).toBe(204)
    expect(s3.objects.has(`recordings/${key}`)).toBe(false)
  })

  it.each(['get', 'delete'] as const)(
    'says of one that is not stored yet that it is not, to %s',
    async (method) => {
      const call_sid = await endCall(api.own)
      const { account_sid } = api.own
      const key = `2026/11/21/${call_sid}.wav`
      const begun = {
        change: 'begun',
        key,
        format: 'wav',
        spool: createSid(),
        at: 1,
        notice: undefined,
      } as const
      api.storage.calls.write(
        { call_sid, account_sid, events: [], notifications: [], recordings: [begun] },
        'now',
      )
      await api.storage.calls.flush()
      expect(await api[method](pathOf(call_sid), api.own.accountKey)).toMatchObject({
        status: 404,
        body: {
          code: 'recording_not_stored',
          msg: 'the recording is not stored yet',
          cure: expect.stringContaining('Wait for the event recording') as string,
        },
      })
      expect(s3.received).toEqual([])
    },
  )

  it('answers it to each caller that may see the call, and for a call that kept no record', async () => {
    const call_sid = await endCall(api.own, false)
    keep(call_sid)
    for (const token of [api.own.accountKey, api.own.providerKey, api.adminKey])
      expect((await api.get(pathOf(call_sid), token)).status).toBe(200)
    expect((await api.get(pathOf(call_sid), api.sibling.accountKey)).status).toBe(403)
    expect((await api.get(pathOf(call_sid), api.foreign.providerKey)).status).toBe(403)
  })

  it('answers 404 without a call, of another account too, without an object, and without a bucket', async () => {
    const [call_sid, others] = [await endCall(api.own), await endCall(api.sibling)]
    keep(others)
    const key = api.own.accountKey
    expect((await api.get(pathOf(createSid()), key)).body).toHaveProperty('msg', 'no such call')
    expect((await api.get(pathOf(others), key)).body).toHaveProperty('msg', 'no such call')
    expect(s3.received).toEqual([])
    expect(await api.get(pathOf(call_sid), key)).toMatchObject({
      status: 404,
      body: { code: 'not_found', msg: 'no such object in the bucket' },
    })
    await endCall(api.foreign).then(async (call) => {
      const path = pathOf(call, '2026/11/21/wav', api.foreign)
      expect(await api.get(path, api.foreign.accountKey)).toMatchObject({
        status: 404,
        body: {
          code: 'not_found',
          msg: 'the platform has no recording of this call, and the account has no bucket',
        },
      })
    })
  })

  it.each([
    ['26/11/21/wav', 'Year, Month and Day must be'],
    ['2026/13/21/wav', 'Year, Month and Day must be'],
    ['2026/11/2/wav', 'Year, Month and Day must be'],
    ['2026/11/..%2f1/wav', 'Year, Month and Day must be'],
    ['2026/11/21/flac', 'Format must be mp3 or wav'],
    ['2026/11/21/wav%2f..', 'Format must be mp3 or wav'],
  ])('answers 400 for %s, and sends no request to the bucket', async (rest, msg) => {
    const answer = await api.get(pathOf(await endCall(api.own), rest), api.own.accountKey)
    expect(answer).toMatchObject({ status: 400, body: { msg: expect.stringContaining(msg) as string } })
    expect(s3.received).toEqual([])
  })

  it('answers 422 with the reason and a cure when the storage refuses', async () => {
    const call_sid = await endCall(api.own)
    s3.instead = (_request, response) => {
      response
        .writeHead(403, { 'content-type': 'application/xml' })
        .end(`<Error><Code>X</Code><Message>No ${keys.secret} today</Message></Error>`)
      return true
    }
    const answer = await api.get(pathOf(call_sid), api.own.accountKey)
    expect(answer).toMatchObject({
      status: 422,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: {
        code: 'bucket_failed',
        msg: 's3_compatible refused the credential (status 403: No [hidden] today)',
        cure: 'Check the key of the credential, and what the vendor lets it do.',
      },
    })
  })

  it('cuts an answer off where the storage does, and logs why', async () => {
    const call_sid = await endCall(api.own)
    let storage: ServerResponse | undefined
    s3.instead = (_request, response) => {
      storage = response.writeHead(200, { 'content-length': sound.length })
      response.write(sound.subarray(0, 1000))
      return true
    }
    const from = lines.items.length
    const response = await answerTo(pathOf(call_sid))
    expect(response.statusCode).toBe(200)
    await once(response, 'readable')
    storage?.destroy()
    await expect(buffer(response)).rejects.toThrow('aborted')
    const line = await lines.next('the log', ({ msg }) => msg === 'an object was cut off', { from })
    expect(line.code).toBe('bucket_failed')
  })

  it('lets the storage wait for a slow client, and sends all of it in the end', async () => {
    const call_sid = await endCall(api.own)
    const bytes = 96 * megabyte
    const { sent } = sendsAsMuchAsItMay(bytes)
    const response = await answerTo(pathOf(call_sid))
    response.pause()
    // Never settles if the platform reads ahead of its client: all would be sent.
    let [last, looks] = [-1, 0]
    await until('the storage to wait', () => {
      looks = sent() === last ? looks + 1 : 0
      last = sent()
      return looks >= 10
    })
    expect(sent()).toBeLessThan(bytes / 2)
    let read = 0
    for await (const chunk of response) read += (chunk as Buffer).length
    expect(read).toBe(bytes)
  })

  it('stops asking the storage when the client goes away, before the first byte and after', async () => {
    const call_sid = await endCall(api.own)
    s3.instead = () => true
    const early = ask(pathOf(call_sid))
    await until('the storage to be asked', () => s3.received.length === 1)
    early.destroy()
    await s3.answered.next('the connection to close', (how) => how === 'cut')
    sendsAsMuchAsItMay(96 * megabyte)
    const response = await answerTo(pathOf(call_sid))
    response.destroy()
    await s3.answered.next('the connection to close', (how) => how === 'cut', { from: 1 })
  })

  it('answers HEAD with the length alone, and reads none of it', async () => {
    const call_sid = await endCall(api.own)
    const { sent } = sendsAsMuchAsItMay(96 * megabyte)
    const response = await answerTo(pathOf(call_sid), 'HEAD')
    expect(response.statusCode).toBe(200)
    expect(response.headers).toMatchObject({
      'content-type': 'audio/wav',
      'content-length': String(96 * megabyte),
    })
    await s3.answered.next('the connection to close', (how) => how === 'cut')
    expect(sent()).toBeLessThan(96 * megabyte)
  })

  it('reads 16 at a time for one account, and the next when one is through', async () => {
    const call_sid = await endCall(api.own)
    s3.instead = (_request, response) => {
      response.writeHead(200).write('begun')
      return true
    }
    const path = pathOf(call_sid)
    const responses = await Promise.all(Array.from({ length: 16 }, () => answerTo(path)))
    const refused = await answerTo(path)
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '5'])
    expect(JSON.parse((await buffer(refused)).toString())).toMatchObject({ code: 'too_many_requests' })
    // Other accounts are not held up.
    s3.instead = undefined
    const others = await endCall(api.sibling)
    keep(others)
    const answer = await api.get(pathOf(others, '2026/11/21/wav', api.sibling), api.sibling.accountKey)
    expect(answer.status).toBe(200)
    responses[0]?.destroy()
    keep(call_sid)
    await until('a place', async () => (await api.get(path, api.own.accountKey)).status === 200)
    for (const response of responses) response.destroy()
  })
})

describe('DELETE .../RecentCalls/{call_sid}/record/{year}/{month}/{day}/{format}', () => {
  it('removes the object, once', async () => {
    const call_sid = await endCall(api.own)
    keep(call_sid)
    keep(call_sid, 'mp3')
    const answer = await api.delete(pathOf(call_sid), api.own.accountKey)
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect([...s3.objects.keys()]).toEqual([`recordings/2026/11/21/${call_sid}.mp3`])
    expect((await api.delete(pathOf(call_sid), api.own.accountKey)).status).toBe(404)
    const { account_sid, service_provider_sid } = api.own
    expect(await audited(`2026/11/21/${call_sid}.wav`)).toEqual([
      expect.objectContaining({ action: 'delete', actor_kind: 'api_key', account_sid, service_provider_sid }),
    ])
  })

  it('answers 404 without a call or a bucket, 400 for no date, 403 to another account, and removes nothing', async () => {
    const [call_sid, others] = [await endCall(api.own), await endCall(api.sibling)]
    keep(call_sid)
    keep(others)
    const key = api.own.accountKey
    expect((await api.delete(pathOf(createSid()), key)).status).toBe(404)
    expect((await api.delete(pathOf(others), key)).status).toBe(404)
    expect((await api.delete(pathOf(call_sid, '2026/11/99/wav'), key)).status).toBe(400)
    expect((await api.delete(pathOf(call_sid), api.sibling.accountKey)).status).toBe(403)
    const path = pathOf(await endCall(api.foreign), '2026/11/21/wav', api.foreign)
    expect((await api.delete(path, api.foreign.accountKey)).status).toBe(404)
    expect(s3.objects.size).toBe(2)
  })

  it('is carried through when the client goes away meanwhile', async () => {
    const call_sid = await endCall(api.own)
    keep(call_sid)
    let held: ServerResponse | undefined
    s3.instead = ({ method }, response) => {
      if (method !== 'GET') return false
      held = response
      return true
    }
    const request = ask(pathOf(call_sid), 'DELETE')
    const closed = new Promise((resolve) => request.on('close', resolve))
    await until('the storage to be asked', () => held !== undefined)
    request.destroy()
    await closed
    // By the next response, the platform has noticed which client has left.
    expect((await answerTo(`/Accounts/${api.own.account_sid}`)).statusCode).toBe(200)
    held?.end('there')
    await until('the object to be removed', () => s3.objects.size === 0)
  })

  it('answers 422 when the storage refuses', async () => {
    const call_sid = await endCall(api.own)
    keep(call_sid)
    s3.instead = ({ method }, response) => {
      if (method !== 'DELETE') return false
      response.writeHead(503, { 'content-type': 'text/plain' }).end('Slow down')
      return true
    }
    expect(await api.delete(pathOf(call_sid), api.own.accountKey)).toMatchObject({
      status: 422,
      body: { code: 'bucket_failed', msg: 's3_compatible responded with status 503: Slow down' },
    })
    expect(s3.objects.size).toBe(1)
    expect(await audited(`2026/11/21/${call_sid}.wav`)).toEqual([])
  })

  it('tells the log which one is gone, and no secret', async () => {
    const from = lines.items.length
    const call_sid = await endCall(api.own)
    keep(call_sid)
    await api.delete(pathOf(call_sid), api.own.accountKey)
    const told = await lines.next('the log', ({ msg }) => msg === 'recording removed', { from })
    expect(told).toMatchObject({ account_sid: api.own.account_sid, key: `2026/11/21/${call_sid}.wav` })
    expect(JSON.stringify(lines.items)).not.toContain('Pl4nted')
    // Neither a client that leaves nor a bucket that fails is a failure of the platform.
    expect(lines.items.filter(({ level }) => level >= errorLevel)).toEqual([])
    const row = await api.storage.for(systemTenancy).accounts.find(api.own.account_sid)
    expect(row?.bucket_credential).toContain('Pl4nted')
  })
})
