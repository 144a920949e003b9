import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSid } from '../../lib/ids.ts'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import { makeCall } from '../../../test/conformance/api/live-call.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
beforeEach(() => {
  api.commands.length = 0
})
afterAll(() => api.close())

const path = (call_sid = makeCall(api, api.own), { account_sid } = api.own) =>
  `/Accounts/${account_sid}/Calls/${call_sid}`
const url = 'https://app.example.com/next'

describe.each(['PUT', 'POST'])('%s /Accounts/{sid}/Calls/{sid}', (method) => {
  const send = (body: object, to = path(), token = api.own.accountKey) =>
    api.request(method, to, token, { body })

  it.each([
    ['another application, by its URL', { call_hook: url }, { call_hook: { url } }],
    ['another application, by a path', { call_hook: '/next?x=1' }, { call_hook: { url: '/next?x=1' } }],
    [
      'a path with what else a hook has',
      { child_call_hook: { url: '/kid', method: 'get', username: 'u' } },
      { child_call_hook: { url: '/kid', method: 'GET', username: 'u', password: null } },
    ],
    [
      'another application with a status hook',
      {
        call_hook: { url, method: 'GET', username: 'u', password: 'p' },
        call_status_hook: { url: 'https://app.example.com/status' },
      },
      {
        call_hook: { url, method: 'GET', username: 'u', password: 'p' },
        call_status_hook: { url: 'https://app.example.com/status' },
      },
    ],
    ['mute', { mute_status: 'mute' }, { mute_status: 'mute' }],
    ['unmute', { mute_status: 'unmute' }, { mute_status: 'unmute' }],
    ['media path', { media_path: 'no-media' }, { media_path: 'no-media' }],
    ['keys', { dtmf: { digit: '1w#' } }, { dtmf: { digit: '1w#' } }],
    ['a whisper', { whisper: { verb: 'say', text: 'x' } }, { whisper: { verb: 'say', text: 'x' } }],
    [
      'a whisper together with another command',
      { whisper: { verb: 'say', text: 'x' }, mute_status: 'mute' },
      { whisper: { verb: 'say', text: 'x' }, mute_status: 'mute' },
    ],
    [
      'a hook for the called side',
      { child_call_hook: url, call_hook: url },
      {
        child_call_hook: { url },
        call_hook: { url },
      },
    ],
    [
      'a track',
      { dub: { action: 'silenceTrack', track: 'a' } },
      { dub: { action: 'silenceTrack', track: 'a' } },
    ],
    ['a gain', { boostAudioSignal: '-6 dB' }, { boostAudioSignal: '-6 dB' }],
    ['a gain of 0', { boostAudioSignal: 0 }, { boostAudioSignal: 0 }],
    ['an end', { call_status: 'completed' }, { call_status: 'completed' }],
    [
      'a hold in a conference with what is heard meanwhile',
      { conf_hold_status: 'hold', wait_hook: url },
      { conf_hold_status: 'hold', wait_hook: { url } },
    ],
    ['a tag', { tag: { order: 7 }, call_hook: null }, { tag: { order: 7 } }],
  ])('takes %s', async (_, body, command) => {
    const { status, text } = await send(body)
    expect([status, text]).toEqual([202, ''])
    expect(api.commands).toEqual([command])
  })

  it.each([
    [
      {},
      'exactly one command is required, besides whisper: boostAudioSignal, call_hook, call_status, child_call_hook, conf_hold_status',
    ],
    [{ nonsense: 1 }, 'exactly one command'],
    [{ call_status: 'completed', tag: {} }, 'exactly one command'],
    [{ mute_status: 'mute', dtmf: { digit: '1' } }, 'exactly one command'],
    [{ whisper: 'One minute left.' }, 'whisper must be a verb, or a list of verbs'],
    [{ whisper: { verb: 'pause' }, mute_status: 'mute', dtmf: { digit: '1' } }, 'exactly one command'],
    [{ whisper: { verb: 'pause' }, call_hook: url, child_call_hook: url }, 'exactly one command'],
    [{ mute_status: 'loud' }, 'mute_status must be one of'],
    [{ dtmf: { digit: 'x' } }, 'dtmf.digit must be keys'],
    [{ dtmf: { digit: '1', duration: 5 } }, 'dtmf.duration'],
    [{ child_call_hook: url, call_status_hook: url }, 'call_status_hook may not be sent together'],
    [{ call_status: 'failed' }, 'call_status must be one of'],
    [{ call_hook: '/with space' }, 'call_hook.url must not contain white space'],
    [{ call_hook: 'next' }, 'call_hook.url must be an absolute URL, or a path that begins with /'],
    [{ call_hook: 'not a url' }, 'call_hook'],
    [{ call_hook: 'sip:app.example.com' }, 'call_hook.url must be an'],
    [{ call_status_hook: url }, 'call_status_hook may be sent only together with call_hook'],
    [{ tag: 'text' }, 'tag must be'],
    [{ tag: { long: 'x'.repeat(70_000) } }, 'tag must have at most'],
    [{ boostAudioSignal: 'loud' }, 'boostAudioSignal must be a number of dB'],
    [{ boostAudioSignal: 99 }, 'boostAudioSignal'],
    [{ sip_request: { method: 'BYE', content_type: 'text/plain', content: '' } }, 'sip_request.method'],
    [{ sip_request: { method: 'INFO', content: 'x' } }, 'sip_request'],
    [{ sip_request: { method: 'INFO', content_type: 'a/b', content: 'x'.repeat(16_385) } }, 'content'],
    [{ tag: {}, sip_request: { method: 'INFO', content_type: 'a/b', content: '' } }, 'exactly one command'],
    [{ conf_mute_status: 'loud' }, 'conf_mute_status must be one of'],
    [{ conferenceParticipantAction: { action: 'coach' } }, 'conferenceParticipantAction: coach needs a tag'],
    [{ mute_status: 'mute', wait_hook: url }, 'wait_hook may not be sent together'],
    [{ record: { action: 'startCallRecording' } }, 'record: siprecServerURL is needed'],
    [{ record: { action: 'begin' } }, 'record.action'],
  ])('answers 400 naming what is wrong with %.60j', async (body, msg) => {
    const answer = await send(body)
    expect([answer.status, answer.body]).toEqual([
      400,
      expect.objectContaining({ msg: expect.stringContaining(msg) }),
    ])
    expect(api.commands).toEqual([])
  })

  it('answers 200 with what the far end responds to a request', async () => {
    const sip_request = { method: 'INFO', content_type: 'text/plain', content: 'hi', headers: { 'X-A': 1 } }
    const { status, body } = await send({ sip_request })
    expect([status, body]).toEqual([200, { status: 200, reason: 'OK' }])
    expect(api.commands).toEqual([{ sip_request }])
    expect((await send({ sip_request }, path(createSid()))).status).toBe(404)
  })

  it('says that a call has ended, and that GET still shows it', async () => {
    const call_sid = makeCall(api, api.own)
    const index = api.calls.findIndex((call) => call.call_sid === call_sid)
    api.calls.splice(index, 1, { ...api.calls[index]!, call_status: 'completed' })
    const { status, body } = await send({ mute_status: 'mute' }, path(call_sid))
    expect([status, body]).toMatchObject([
      404,
      { msg: 'no such live call: it has ended', cure: expect.stringContaining('for an hour after its end') },
    ])
    expect(api.commands).toEqual([])
    expect((await api.get(path(call_sid), api.own.accountKey)).status).toBe(200)
  })

  it('answers 404 for a call that is not there or another account’s, and changes no call', async () => {
    const body = { call_status: 'completed' }
    expect((await send(body, path(createSid()))).status).toBe(404)
    expect((await send(body, path(makeCall(api, api.sibling)))).status).toBe(404)
    expect((await send(body, path(makeCall(api, api.sibling), api.sibling))).status).toBe(403)
    expect(api.commands).toEqual([])
  })
})
