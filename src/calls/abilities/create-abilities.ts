// The abilities of a script on one leg.
import { factsOf } from '../application/http-application.ts'
import type { NestedVerbs } from '../application/nested-verbs.ts'
import type { RunningScript } from '../session/running-script.ts'
import { referralsOf } from '../bridge/transfer.ts'
import type { Abilities } from '../verb/abilities.ts'
import { createAlerting } from './alerting.ts'
import { createDialogRequests } from './far-end-requests.ts'
import { createDigits } from './digits.ts'
import { LegHearing } from './hearing.ts'
import { LegHooks, type LegHooksOptions } from './hooks.ts'
import { HookWait } from './hook-wait.ts'
import { createKeys } from './keys.ts'
import { createLegs } from './legs.ts'
import { CallNotes } from './notes.ts'
import { createQueueing } from './queueing.ts'
import { createRecording } from './recording.ts'
import { createStreaming } from './streaming.ts'
import { createReferring } from './referring.ts'
import { createRequests } from './requests.ts'
import { createRooms } from './rooms.ts'
import { createSetting } from './settings.ts'
import { LegSignalling } from './signalling.ts'
import { createSiprec } from './siprec.ts'
import { createSound } from './sound.ts'
import { createTags } from './tags.ts'
import { createTime } from './time.ts'
import { createTracks } from './tracks.ts'
import { LegVoice } from '../voice/voice.ts'
import type { AbilityNeeds } from './needs.ts'

export interface AbilitiesOptions extends LegHooksOptions {
  readonly needs: AbilityNeeds
  /** Runs verbs on other legs of the call. */
  readonly nested: NestedVerbs
  /** Called with events of the running verb, such as those of its prompt and the keys that end it. */
  readonly onVerbEvent?: (event: Readonly<Record<string, unknown>>) => void
}

export interface ScriptAbilities extends Abilities {
  readonly hooks: LegHooks
  readonly hearing: LegHearing
  /** The interface for commands from outside. */
  readonly running: RunningScript
}

export function createAbilities(options: AbilitiesOptions): ScriptAbilities {
  const { leg, application, needs, nested } = options
  const { script } = application
  const { clock, speech, audio } = needs
  const notes = new CallNotes(leg.journal)
  const hooks = new LegHooks({
    ...options,
    wait: () => wait,
    clock,
    facts: () => factsOf(leg, needs),
  })
  const report = createReport(options)
  const resolveUrl = (url: string): string => application.resolveUrl(url)
  const voice = new LegVoice({
    leg,
    script,
    speech,
    audio,
    clock,
    notes,
    resolveUrl,
    settings: leg.session.settings,
    report,
  })
  const refer = referralsOf({ hook: () => leg.session.settings.current.referHook, needs, nested })
  const wait = new HookWait({ leg, clock, nested, voice, parseVerbs: needs.verbs })
  const hearing = new LegHearing({
    leg,
    script,
    settings: leg.session.settings,
    recognition: needs.recognition,
    hooks,
    silence: () => voice.cut(),
    clock,
    onProblem: (error) => notes.problem(error),
    onDeaf(error, hasFallback) {
      // One alert a call is enough for a recogniser that is not there; one that breaks is noted each time.
      if (error.code === 'recognizer_unknown') notes.goWithout(error)
      else notes.problem(error)
      const { id, name: verb } = options.queue.current ?? {}
      application.tellError(leg.call_sid, {
        msg: 'ASR error',
        details: error.message,
        failover: hasFallback ? 'in progress' : 'not available',
        ...(verb === undefined ? {} : { verb }),
        ...(id === undefined ? {} : { id }),
      })
    },
    onBargeIn: (by) => report(`${by}-bargein-detected`),
  })
  return {
    signalling: new LegSignalling(leg, notes),
    voice,
    digits: createDigits({ leg, hearing }),
    hearing,
    tracks: createTracks({ leg, voice, notes }),
    siprec: createSiprec({ leg, needs, notes }),
    sound: createSound(leg),
    recording: createRecording(leg, notes),
    settings: createSetting({ settings: leg.session.settings, verbs: needs.verbs, resolveUrl }),
    keys: createKeys(leg),
    requests: createRequests(leg, notes),
    referring: createReferring({ leg, needs, notes }),
    alerting: createAlerting(leg),
    hooks,
    running: createRunning(options, hooks, (referral) => refer(referral, leg)),
    tags: createTags(leg.journal),
    rooms: createRooms({ leg, application, nested, needs }),
    legs: createLegs({ leg, script, needs, nested, voice, hearing, notes }),
    streams: createStreaming({ leg, application, needs, nested }),
    queues: createQueueing({ leg, needs, nested, voice, refer }),
    time: createTime(clock),
    notes,
  }
}

/** Returns the interface for requests and commands that come from outside while the script runs. */
function createRunning(
  { leg, application, nested }: AbilitiesOptions,
  hooks: LegHooks,
  refer: RunningScript['refer'],
): RunningScript {
  return {
    source: application.script,
    refer,
    take: createDialogRequests(leg, hooks),
    takeOver: (hook, because) => hooks.takeOver(hook, because),
    interrupt: (verbs, because) => hooks.interrupt(verbs, because),
    awaitMore: () => hooks.awaitMore(),
    beside: (verbs, allowed) => nested.beside({ leg, verbs, allowed }),
    hookOf: (form) => application.hookOf(form),
  }
}

/** Returns a function that reports events of the running verb, with the `id` that the application gave it. */
function createReport({ queue, onVerbEvent }: AbilitiesOptions) {
  return (event: string, fields: object = {}): void => {
    const { current } = queue
    if (current === undefined) return
    const { id, name: verb } = current
    onVerbEvent?.({ event, ...(id === undefined ? {} : { id }), verb, ...fields })
  }
}
