// One call of the demo's phone to the hello application, printed as it happens, and the platform's record of it.
import { setTimeout as wait } from 'node:timers/promises'
import { phrases, startHelloApplication } from '../hello.ts'
import { journalStory, type StoryEvent } from './journal-story.ts'
import type { Sound } from './phone-audio.ts'
import { speakWords } from './embedded-voice.ts'
import { placeCall, type PhoneCall } from './phone.ts'
import { callRecognizer, createClient, provisionCall, type CallDemo } from './provision-demo.ts'

export interface CallTarget {
  readonly baseUrl: string
  readonly sip: { readonly host: string; readonly port: number }
  readonly apiKey: string
  readonly realm: string
  /** The recogniser that hears the caller's answer: the base URL of its dialect. Without one the caller presses keys. */
  readonly recogniserUrl?: string | undefined
}

export interface CallRecord {
  readonly account_sid: string
  readonly call_sid: string
}

type Print = (line: string) => void

const keys = '42#'
// Long enough to hear that a question is asked.
const listenMs = 300
const words = 'I would like to book a table for two.'
// Long enough for the question to be over: it does not end at a voice.
const questionMs = 2500
// Limits for waits that would never end; a slow machine needs part of them.
const maxCallMs = 90_000
const maxRecordMs = 20_000
const recordPollMs = 50
const maxNotificationMs = 5000

/** Places the call and prints it and its journal. Rejects if the call did not go as expected. */
export async function runCall(target: CallTarget, print: Print): Promise<CallRecord> {
  let onServer: Print = () => undefined
  const answer = target.recogniserUrl === undefined ? byKeys : await byVoice()
  const application = await startHelloApplication({
    print: (line) => onServer(line),
    ...(target.recogniserUrl === undefined ? {} : { recognizer: callRecognizer }),
  })
  try {
    const demo = await provisionCall({ ...target, hookUrl: application.url })
    try {
      application.requireSignature(demo.webhookSecret)
      print('\nThe call')
      const conversation = new Conversation(answer, print)
      onServer = (line) => conversation.onServer(line)
      const callId = await conversation.hold(target, demo)
      const record = await printRecord(target, demo, callId, print)
      // A notification that does not reach the server would be retried for days.
      await Promise.race([conversation.completed, wait(maxNotificationMs)])
      return record
    } finally {
      await demo.remove()
    }
  } finally {
    await application.close()
  }
}

/** How the caller answers the question. */
interface Answer {
  readonly question: string
  /** How long the caller listens to the question. */
  readonly afterMs: number
  readonly line: string
  readonly give: (call: PhoneCall) => void
}

const byKeys: Answer = {
  question: phrases.question,
  afterMs: listenMs,
  line: `presses ${keys.split('').join(' ')}`,
  give: (call) => call.press(keys),
}

async function byVoice(): Promise<Answer> {
  const voice = await speakWords(words)
  return {
    question: phrases.openQuestion,
    afterMs: questionMs,
    line: `says "${words}"`,
    give: (call) => void call.say(voice),
  }
}

/** The sounds of the call that are still expected, in order. */
type Part = 'greeting' | 'tone' | 'question' | 'goodbye' | 'nothing'

class Conversation {
  /** Resolves when the status hook has reported the end of the call. */
  readonly completed: Promise<void>
  readonly #completed = Promise.withResolvers<void>()
  readonly #answer: Answer
  readonly #print: Print
  readonly #startedAt = performance.now()
  #call: PhoneCall | undefined
  #next: Part = 'greeting'
  #goodbye = ''

  constructor(answer: Answer, print: Print) {
    this.#answer = answer
    this.#print = print
    this.completed = this.#completed.promise
  }

  /** Resolves with the Call-ID when everything was heard and the platform has hung up. */
  async hold(target: CallTarget, { application_sid, username, password, realm }: CallDemo): Promise<string> {
    const uri = `sip:app-${application_sid}@${realm}`
    this.#line('phone', `dials ${uri}`)
    const call = await placeCall({ server: target.sip, username, password, realm }, uri, {
      onChallenge: () => this.#line('platform', 'asks who is calling; the phone proves its password'),
      onAnswer: () => this.#line('platform', 'answers the call'),
      onSound: (sound) => this.#heard(sound),
    })
    this.#call = call
    const patience = new AbortController()
    try {
      await Promise.race([call.ended, giveUp(patience.signal, () => this.#next)])
    } finally {
      patience.abort()
      await call.close()
    }
    if (this.#next !== 'nothing') throw new Error(`The call ended before the ${this.#next} was heard.`)
    this.#line('platform', 'hangs up')
    return call.callId
  }

  onServer(line: string): void {
    if (line.startsWith('POST /status: completed')) this.#completed.resolve()
    if (line.startsWith('POST /status')) return
    this.#line('server', line)
    const [, digits, heard] = /^POST \/(?:digits: digits (\d+)|words: heard "(.+)")/.exec(line) ?? []
    if (digits === undefined && heard === undefined) return
    this.#goodbye = heard === undefined ? phrases.goodbye(digits ?? '') : phrases.saidBack(heard)
    this.#next = 'goodbye'
    this.#call?.forgetLastSound()
  }

  #heard(sound: Sound): void {
    if (sound === 'tone' && this.#next === 'tone') {
      this.#line('platform', 'plays a tone')
      this.#next = 'question'
    } else if (sound === 'speech' && this.#next === 'greeting') {
      this.#says(phrases.greeting)
      this.#next = 'tone'
    } else if (sound === 'speech' && this.#next === 'question') {
      this.#says(this.#answer.question)
      this.#next = 'goodbye'
      setTimeout(() => this.#respond(), this.#answer.afterMs)
    } else if (sound === 'speech' && this.#next === 'goodbye' && this.#goodbye !== '') {
      this.#says(this.#goodbye)
      this.#next = 'nothing'
    }
  }

  #respond(): void {
    if (this.#call === undefined) return
    this.#line('phone', this.#answer.line)
    this.#answer.give(this.#call)
  }

  #says(text: string): void {
    this.#line('platform', `says "${text}"`)
  }

  #line(who: 'phone' | 'platform' | 'server', what: string): void {
    const seconds = ((performance.now() - this.#startedAt) / 1000).toFixed(2)
    this.#print(`${seconds.padStart(7)} s  ${who.padEnd(8)}  ${what}`)
  }
}

async function giveUp(signal: AbortSignal, next: () => Part): Promise<never> {
  await wait(maxCallMs, undefined, { signal })
  throw new Error(`The call was given up after ${maxCallMs / 1000} s, before the ${next()} was heard.`)
}

async function printRecord(
  { baseUrl, apiKey }: CallTarget,
  { account_sid }: CallDemo,
  callId: string,
  print: Print,
): Promise<CallRecord> {
  const api = createClient({ baseUrl, apiKey })
  const get = (path: string): Promise<unknown> => api('GET', `/Accounts/${account_sid}/RecentCalls${path}`)
  const deadline = performance.now() + maxRecordMs
  for (;;) {
    const { data } = (await get('?page=1&count=25')) as {
      data: readonly (CallRecord & { sip_call_id: string })[]
    }
    const record = data.find(({ sip_call_id }) => sip_call_id === callId)
    if (record !== undefined) {
      const events = (await get(`/${record.call_sid}/journal`)) as readonly StoryEvent[]
      print(`\nIts journal, in short (${events.length} events)`)
      for (const line of journalStory(events)) print(line)
      return { account_sid, call_sid: record.call_sid }
    }
    if (performance.now() > deadline) throw new Error('The platform has no record of the call.')
    await wait(recordPollMs)
  }
}
