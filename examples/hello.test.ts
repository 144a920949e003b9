import { createHmac } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { startHelloApplication, type HelloApplication, type HelloOptions } from './hello.ts'

let application: HelloApplication | undefined
const printed: string[] = []

afterEach(async () => {
  await application?.close()
  printed.length = 0
})

async function start(options: HelloOptions = {}): Promise<HelloApplication> {
  application = await startHelloApplication({ print: (line) => printed.push(line), ...options })
  return application
}

const post = (url: string, payload: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(payload),
  })

function signature(secret: string, payload: object, at = Date.now()): Record<string, string> {
  const timestamp = Math.floor(at / 1000)
  const digest = createHmac('sha256', secret)
    .update(`${timestamp}.${JSON.stringify(payload)}`)
    .digest('hex')
  return { 'Jambonz-Signature': `t=${timestamp},v1=${digest}` }
}

describe('the hello application', () => {
  it('answers a call with speech, its own WAV file and a question for digits', async () => {
    const { url } = await start()
    const response = await post(`${url}/call`, { from: 'alice', to: '500' })
    expect(response.headers.get('content-type')).toBe('application/json')
    const verbs = (await response.json()) as { verb: string; url?: string; actionHook?: string }[]
    expect(verbs.map(({ verb }) => verb)).toEqual(['say', 'play', 'gather'])
    expect(verbs[2]).toMatchObject({ actionHook: '/digits', maxDigits: 4 })
    const wav = Buffer.from(await (await fetch(verbs[1]?.url ?? '')).arrayBuffer())
    expect(wav.toString('latin1', 0, 4)).toBe('RIFF')
    expect(wav.length).toBe(44 + wav.readUInt32LE(40))
    expect(printed).toEqual(['POST /call: a call from alice to 500; answers say, play, gather'])
  })

  it('says which digits were pressed and hangs up', async () => {
    const { url } = await start()
    const response = await post(`${url}/digits`, { digits: '4207', reason: 'dtmfDetected' })
    expect(await response.json()).toEqual([{ verb: 'say', text: 'You pressed 4 2 0 7.' }, { verb: 'hangup' }])
  })

  it('says so when there were none', async () => {
    const { url } = await start()
    const response = await post(`${url}/digits`, { reason: 'timeout' })
    expect(await response.json()).toEqual([
      { verb: 'say', text: 'I heard no digits. Goodbye.' },
      { verb: 'hangup' },
    ])
  })

  it('keeps the status events and prints them', async () => {
    const { url, statusLog } = await start()
    await post(`${url}/status`, { call_sid: 'c1', call_status: 'trying', sip_status: 100 })
    expect(statusLog).toEqual([{ call_sid: 'c1', call_status: 'trying', sip_status: 100 }])
    expect(printed).toEqual(['POST /status: trying (SIP 100)'])
  })

  it('answers only what is signed with its secret, and lately', async () => {
    const hello = await start()
    const { url } = hello
    hello.requireSignature('wh_secret_test')
    const payload = { from: 'alice', to: '500' }
    const statusWith = async (headers: Record<string, string>) =>
      (await post(`${url}/call`, payload, headers)).status
    expect(await statusWith(signature('wh_secret_test', payload))).toBe(200)
    expect(await statusWith(signature('another', payload))).toBe(401)
    expect(await statusWith(signature('wh_secret_test', { other: 1 }))).toBe(401)
    expect(await statusWith(signature('wh_secret_test', payload, Date.now() - 400_000))).toBe(401)
    expect(await statusWith({})).toBe(401)
    expect(await statusWith({ 'Jambonz-Signature': 't=x,v1=zz' })).toBe(401)
  })

  it('refuses what it does not know', async () => {
    const { url } = await start()
    expect((await fetch(`${url}/nowhere`)).status).toBe(404)
    expect((await post(`${url}/nowhere`, {})).status).toBe(404)
    expect((await fetch(`${url}/call`, { method: 'POST', body: '{' })).status).toBe(400)
  })
})
