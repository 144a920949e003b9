// The ability to hear words: questions that are answered by voice or by keys, and transcription.
import type { Recognition } from '../../contracts/recognition.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { DigitCollector } from '../digits/digit-collector.ts'
import { BackgroundQuestion } from '../hearing/background-question.ts'
import { chooseRecogniser, soundAlone, type RecogniserChoice } from '../hearing/choose-recogniser.ts'
import { Ear, type EarOptions } from '../hearing/ear.ts'
import { MachineWatch } from '../hearing/machine-watch.ts'
import { TranscriptHook, type TranscriptHookOptions } from '../hearing/transcript-hook.ts'
import { SpeechCollector } from '../hearing/speech-collector.ts'
import type { EarName } from '../leg/leg-ears.ts'
import type { Asking } from '../verb/abilities.ts'
import type { Leg } from '../leg/leg.ts'
import type { CallScript } from '../ports.ts'
import { stopped } from '../session/stop.ts'
import type { MachineDetecting, MachineDetection, MachineEvent } from '../verb/machine-detection.ts'
import type { CallSettings } from '../verb/settings.ts'
import type {
  Answer,
  BackgroundRequest,
  Hearing,
  RecognizerForm,
  SpokenQuestion,
  TalkTranscription,
  Transcription,
} from '../verb/recognition.ts'
import type { VerbQueue } from './hooks.ts'
import { play } from './play-prompt.ts'

export interface HearingOptions {
  readonly leg: Leg
  readonly script: CallScript
  readonly settings: Pick<CallSettings, 'current'>
  readonly recognition: Recognition
  readonly hooks: Pick<Asking, 'event' | 'tell'> & Pick<VerbQueue, 'awaitMore'>
  readonly clock: Clock
  /** Ends what the caller hears. */
  readonly silence: () => void
  /** Called with the failure of a prompt or of a recogniser. */
  readonly onProblem: (error: AppError) => void
  /** Called when a recogniser cannot be had or has failed: `hasFallback` if another takes its place. */
  readonly onDeaf: (error: AppError, hasFallback: boolean) => void
  /** Called when a key or words have ended the prompt. */
  readonly onBargeIn: (by: 'dtmf' | 'speech') => void
}

type Listener = Pick<
  EarOptions,
  'onHeard' | 'onFailed' | 'wantsPartials' | 'on' | 'channel' | 'onVendorEvent'
>

const noSpeech = { stopsPrompt: false, minBargeinWords: Infinity } as const

/** A detection beside verbs. */
export interface DetectionOptions {
  /** The leg that is heard: by default that of the verbs. */
  readonly on?: Leg
  /** Fields that the hook gets besides those of the event. */
  readonly fields?: Readonly<Record<string, unknown>>
  /** The hook is sent nothing before it resolves. */
  readonly after?: Promise<void>
}

export class LegHearing implements Hearing, MachineDetecting {
  readonly #options: HearingOptions
  /** The choice whose first recogniser has failed, until another is chosen. */
  #failedVendor: string | undefined
  #background: BackgroundQuestion | undefined
  #detection: MachineWatch | undefined

  constructor(options: HearingOptions) {
    this.#options = options
  }

  async ask(question: SpokenQuestion): Promise<Answer> {
    const background = this.#background
    background?.suspend()
    try {
      return await this.#ask(question)
    } finally {
      background?.resume()
    }
  }

  listenFor(request: BackgroundRequest): void {
    const { leg, silence } = this.#options
    if (this.#background?.isListening === true && this.#background.input === request.input) return
    this.#background?.end()
    this.#background = new BackgroundQuestion({
      request,
      ask: (question) => this.#ask(question),
      silence,
      signal: leg.signal,
    })
  }

  listenNoMore(): void {
    this.#background?.end()
    this.#background = undefined
  }

  detect(request: MachineDetection, options?: Pick<DetectionOptions, 'after'>): void {
    this.#detection?.stop()
    this.#detection = this.watch(request, options)
  }

  detectNoMore(): void {
    this.#detection?.stop()
    this.#detection = undefined
  }

  /** Begins a detection beside others. */
  watch(request: MachineDetection, { on, fields, after }: DetectionOptions = {}): MachineWatch {
    const { hooks, leg, clock } = this.#options
    const choice = this.#choiceFor(request)
    let last = after ?? Promise.resolve()
    const send = (event: MachineEvent): void => {
      leg.journal.note({ type: 'note', sentence: sentenceOf(event) })
      // One after the other, so that the application gets them in their order.
      const settled = hooks.awaitMore()
      last = last.then(() => hooks.event(request.hook, { ...event, ...fields }, leg.signal)).finally(settled)
    }
    return new MachineWatch({
      request,
      clock,
      hearsWords: choice !== undefined,
      listen: (by, listener) =>
        this.#open(by === 'words' ? 'amd' : 'amd-sound', (by === 'words' && choice) || soundAlone, {
          ...listener,
          ...(on === undefined ? {} : { on, channel: 2 }),
        }),
      onEvent: send,
    })
  }

  /** Returns undefined if no recogniser of words is chosen. */
  #choiceFor({ recognizer }: MachineDetection): RecogniserChoice | undefined {
    const { settings, script } = this.#options
    try {
      const form = recognizer ?? { enhancedModel: true }
      return chooseRecogniser(form, settings.current.recognition, script)
    } catch (error) {
      if (error instanceof AppError && error.code === 'recognizer_unknown') return undefined
      throw error
    }
  }

  async #ask(question: SpokenQuestion): Promise<Answer> {
    const { leg, clock, onProblem, onBargeIn } = this.#options
    const { recognizer, signal, prompt, digits: digitRules } = question
    const speaking = new AbortController()
    const bargeIn = (by: 'dtmf' | 'speech') => (): void => {
      if (speaking.signal.aborted) return
      onBargeIn(by)
      question.onBargeIn?.()
      speaking.abort(stopped('barged-in'))
    }
    const digits = new DigitCollector({ rules: digitRules, clock, onBargeIn: bargeIn('dtmf') })
    const speech = new SpeechCollector({
      rules: question.speech ?? noSpeech,
      clock,
      onBargeIn: bargeIn('speech'),
      onWords: () => digits.waitAgain(),
    })
    let ear: Ear | undefined
    let isListening = false
    const listen = (): void => {
      if (isListening || question.speech === undefined) return
      isListening = true
      ear = this.#listen('gather', recognizer, {
        wantsPartials: true,
        onHeard(result, details) {
          if (details.turn === 'eager' || details.turn === 'resumed') question.onTurnSign?.(result)
          else if (!result.is_final) question.onPartial?.(result)
          speech.hear(result, details)
        },
        onFailed: (error) => {
          // Keys may still be an answer.
          if (!digitRules.takesDigits) speech.failed(error.message)
        },
      })
    }
    const stopKeys = leg.onDigit((key) => {
      if (speech.press(key)) return
      if (digitRules.takesDigits) ear?.close()
      digits.press(key)
    })
    const stop = (): void => {
      speaking.abort(signal.reason)
      digits.stop()
      speech.stop()
    }
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    if (digitRules.listensDuringPrompt) listen()
    const prompting = play(prompt, speaking.signal, onProblem).finally(() => {
      if (!signal.aborted) listen()
      digits.promptEnded()
      speech.promptEnded()
    })
    try {
      const first = await Promise.race([digits.outcome, speech.outcome])
      const isSilence = first.reason === 'timeout' && first.digits === ''
      return isSilence && speech.timedOut() ? await speech.outcome : first
    } finally {
      stopKeys()
      signal.removeEventListener('abort', stop)
      speaking.abort(stopped('done'))
      ear?.close()
      digits.stop()
      speech.stop()
      await prompting
    }
  }

  async transcribe(request: Transcription, signal: AbortSignal): Promise<void> {
    const { hooks } = this.#options
    const hook = this.#hookOf(request, (form, fields) =>
      request.isNested === true ? hooks.tell(form, fields) : hooks.event(form, fields, signal),
    )
    const ear = this.#transcribe('transcribe', request, hook)
    if (ear === undefined) return
    const stop = (): void => ear.close()
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    await ear.ended
    signal.removeEventListener('abort', stop)
    await hook.settled
  }

  begin(request: Transcription): void {
    const { hooks, leg } = this.#options
    const hook = this.#hookOf(request, (form, fields) => hooks.event(form, fields, leg.signal))
    this.#transcribe('background', request, hook)
  }

  end(): void {
    this.#options.leg.ears.close('background')
  }

  /** Transcribes what two say, until they part: `called` is the leg that this one talks with. */
  hearTalk(request: TalkTranscription, called: Leg): void {
    // The verbs of a talk are not replaced by what is said in it.
    const hook = this.#hookOf(request, (form, fields) => this.#options.hooks.tell(form, fields))
    for (const channel of request.channels)
      if (channel === 1) this.#transcribe('dial', request, hook)
      else this.#transcribe('dial-called', request, hook, { on: called, channel })
  }

  endTalk(): void {
    this.#options.leg.ears.close('dial')
    this.#options.leg.ears.close('dial-called')
  }

  #hookOf({ hook }: Transcription, send: TranscriptHookOptions['send']): TranscriptHook {
    const wantsLatency = (): boolean => this.#options.settings.current.wantsLatency === true
    return new TranscriptHook({ hook, send, wantsLatency })
  }

  #transcribe(
    name: EarName,
    { recognizer }: Transcription,
    hook: TranscriptHook,
    more: Pick<EarOptions, 'on' | 'channel'> = {},
  ): Ear | undefined {
    const { settings, leg } = this.#options
    const wantsPartials = { ...settings.current.recognition, ...recognizer }.interim === true
    const ear = this.#listen(name, recognizer, {
      ...more,
      wantsPartials,
      onHeard: (speech, details) => hook.heard(speech, details),
      onVendorEvent: (event) => {
        if (wantsPartials) hook.vendorEvent(event)
      },
      onFailed: () => undefined,
    })
    if (ear !== undefined) leg.ears.add(name, ear)
    return ear
  }

  /** Returns undefined if no recogniser is chosen anywhere; `onFailed` was called then. */
  #listen(name: string, form: RecognizerForm | undefined, listener: Listener): Ear | undefined {
    const { script, settings, onDeaf } = this.#options
    try {
      return this.#open(name, chooseRecogniser(form, settings.current.recognition, script), listener)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      onDeaf(error, false)
      listener.onFailed(error)
      return undefined
    }
  }

  #open(name: string, choice: RecogniserChoice, listener: Listener): Ear {
    const { leg, recognition, clock, onDeaf } = this.#options
    const key = JSON.stringify(choice.first)
    if (choice !== soundAlone && this.#failedVendor !== key) this.#failedVendor = undefined
    return new Ear({
      ...listener,
      name,
      leg,
      choice,
      recognition,
      clock,
      onProblem: onDeaf,
      usesFallback: this.#failedVendor === key,
      onFallback: () => (this.#failedVendor = key),
    })
  }
}

/** Returns the sentence for the journal. The request to the hook has the words. */
function sentenceOf(event: MachineEvent): string {
  const reason = 'reason' in event ? ` (${event.reason})` : ''
  return `answering machine detection: ${event.type}${reason}`
}
