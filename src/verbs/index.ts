// Every verb, sorted by name. A new verb is one file and one line here.
import type { ParseVerbs, RunnableVerb } from '../calls/verb.ts'
import { alert } from './alert.ts'
import { answer } from './answer.ts'
import { conference } from './conference.ts'
import { config } from './config.ts'
import type { Verb } from './define/define-verb.ts'
import { describeVerb, type VerbText } from './define/describe-verb.ts'
import { parseList } from './define/parse-verbs.ts'
import { sharedShapes } from './define/schemas.ts'
import { audioServer } from './define/stream.ts'
import { dequeue } from './dequeue.ts'
import { dial } from './dial.ts'
import { dtmf } from './dtmf.ts'
import { dub } from './dub.ts'
import { enqueue } from './enqueue.ts'
import { gather } from './gather.ts'
import { hangup } from './hangup.ts'
import { leave } from './leave.ts'
import { listen } from './listen.ts'
import { pause } from './pause.ts'
import { play } from './play.ts'
import { redirect } from './redirect.ts'
import { say } from './say.ts'
import { sipDecline } from './sip-decline.ts'
import { sipRefer } from './sip-refer.ts'
import { sipRequest } from './sip-request.ts'
import { tag } from './tag.ts'
import { transcribe } from './transcribe.ts'

export const verbs: readonly Verb[] = [
  alert,
  answer,
  conference,
  config,
  dequeue,
  dial,
  dtmf,
  dub,
  enqueue,
  gather,
  hangup,
  leave,
  listen,
  pause,
  play,
  redirect,
  say,
  sipDecline,
  sipRefer,
  sipRequest,
  tag,
  transcribe,
]

/** Parses a list of verbs, one in each step. Throws as ParseVerbs does. */
export function stepsOfVerbs(list: unknown): Generator<undefined, readonly RunnableVerb[]> {
  return parseList(list, verbs)
}

export const parseVerbs: ParseVerbs = (list) => {
  const steps = stepsOfVerbs(list)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

export const verbTexts = verbs.map(describeVerb)

/** The options that several verbs share, by the titles of their schemas. */
export const verbShapes: readonly VerbText['schema'][] = [audioServer, ...sharedShapes].map((schema) => ({
  ...schema,
}))
