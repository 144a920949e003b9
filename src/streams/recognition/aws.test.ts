import { afterEach, describe, expect, it } from 'vitest'
import {
  framesIn,
  lineOf,
  VendorStage,
  wordsOf,
  type HeardCallOptions,
  type VendorServerOptions,
} from '../../../test/support/vendor-stage.ts'
import { until } from '../../../test/support/wait.ts'
import { decodeEvent, encodeEvent } from '../../outgoing/event-stream.ts'
import { createAws } from './aws.ts'

const stage = new VendorStage()
afterEach(() => stage.clear())

const settings = { access_key_id: 'AKIDEXAMPLE', secret_access_key: 'aws-secret', aws_region: 'eu-west-2' }

async function open(options: HeardCallOptions = {}, serverOptions: VendorServerOptions = {}) {
  const vendor = await stage.serve(serverOptions)
  const call = stage.call(
    createAws(() => vendor.url.replace('ws', 'http')),
    { settings, ...options },
  )
  await call.opened()
  return { call, vendor, line: await lineOf(vendor) }
}

const event = (body: object, headers: Readonly<Record<string, string>> = {}): Buffer =>
  encodeEvent({
    headers: { ':message-type': 'event', ':event-type': 'TranscriptEvent', ...headers },
    payload: Buffer.from(JSON.stringify(body)),
  })

const transcript = (Transcript: string, IsPartial: boolean): Buffer =>
  event({
    Transcript: {
      Results: [
        {
          ResultId: 'x',
          StartTime: 0.2,
          EndTime: 1,
          IsPartial,
          Alternatives: [{ Transcript, Items: [{ Content: 'x', Confidence: 0.8 }, { Content: '.' }] }],
        },
      ],
    },
  })

const exception = (type: string, Message: string): Buffer =>
  event({ Message }, { ':message-type': 'exception', ':exception-type': type })

describe('AWS', () => {
  it('is reached by a signed address, which names the format and has no secret', async () => {
    const { line } = await open({ vendorOptions: { vocabularyName: 'places' } })
    expect(line.request.url).toMatch(/^\/stream-transcription-websocket\?/)
    expect(line.query).toMatchObject({
      'language-code': 'en-US',
      'media-encoding': 'pcm',
      'sample-rate': '8000',
      'partial-results-stability': 'high',
      'vocabulary-name': 'places',
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Expires': '300',
    })
    expect(line.query['X-Amz-Credential']).toMatch(
      /^AKIDEXAMPLE\/\d{8}\/eu-west-2\/transcribe\/aws4_request$/,
    )
    expect(line.query['X-Amz-Signature']).toMatch(/^[0-9a-f]{64}$/)
    expect(line.request.url).not.toContain('aws-secret')
  })

  it('identifies the language if there are several', async () => {
    const { line } = await open({ altLanguages: ['fr-FR'] })
    expect(line.query).toMatchObject({
      'identify-language': 'true',
      'language-options': 'en-US,fr-FR',
      'preferred-language': 'en-US',
    })
    expect(line.query['language-code']).toBeUndefined()
  })

  it('gets audio in events, and an empty one at the end', async () => {
    const { call, line } = await open()
    await call.voice(300)
    call.recogniser.close()
    await until('the end', () => line.binary.length === 6)
    const events = line.binary.map((one) => decodeEvent(one))
    expect(events[0]?.headers[':event-type']).toBe('AudioEvent')
    expect(framesIn(Buffer.concat(events.flatMap((one) => one?.payload ?? [])))).toEqual(
      Array.from({ length: 15 }, (_, at) => at),
    )
    expect(events[5]?.payload).toHaveLength(0)
    line.say(transcript('bye', false))
    line.socket.close()
    await call.ended()
    expect(call.finals).toEqual(['bye'])
  })

  it('reports results with their times', async () => {
    const { call, line } = await open()
    line.say(transcript('one', true))
    line.say(transcript('one two', false))
    const heard = await call.results(2)
    expect(heard.map(({ result }) => [result.is_final, wordsOf(result)])).toEqual([
      [false, 'one'],
      [true, 'one two'],
    ])
    expect(heard[1]).toMatchObject({
      span: { startMs: 200, endMs: 1000 },
      result: { alternatives: [{ confidence: 0.8 }] },
    })
  })

  it('uses the keys that a role lends', async () => {
    const forms: string[] = []
    const { line } = await open(
      { settings: { ...settings, role_arn: 'arn:aws:iam::1:role/x' } },
      {
        respond(_, body) {
          forms.push(body.toString())
          return [
            200,
            '<AccessKeyId>ASIALENT</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>tok</SessionToken>',
          ]
        },
      },
    )
    expect(forms[0]).toContain('Action=AssumeRole')
    expect(line.query).toMatchObject({ 'X-Amz-Security-Token': 'tok' })
    expect(line.query['X-Amz-Credential']).toContain('ASIALENT')
  })

  it('is kept alive while paused', async () => {
    const { call, line } = await open()
    call.recogniser.setMode('paused')
    await call.silence(9000)
    await until('the message', () => line.binary.length === 1)
    expect(decodeEvent(line.binary[0]!)?.payload).toHaveLength(2)
  })

  it.each([
    ['BadRequestException', 'The security token is invalid', 1],
    ['LimitExceededException', 'too many', 1],
    ['BadRequestException', 'Your request timed out because no new audio was received', 2],
    ['InternalFailureException', 'sorry', 2],
  ])('after %s (%s) has %i connections', async (type, message, count) => {
    const { call, vendor, line } = await open()
    line.say(exception(type, message))
    if (count === 1) expect(await call.ended()).toMatchObject({ by: 'failed', because: `aws: ${message}` })
    else await lineOf(vendor, count - 1)
    expect(vendor.lines.items).toHaveLength(count)
  })

  it('is given up after damaged messages', async () => {
    const { call } = await open({}, { onLine: (line) => line.say(Buffer.from('not an event')) })
    expect(await call.ended()).toMatchObject({ by: 'failed', because: expect.stringContaining('damaged') })
  })
})
