// The words of a call as subtitles: WebVTT (W3C).
import type { Utterance } from './utterances.ts'

/** For words whose end is not known. A cue must end after it begins. */
const untimedMs = 2000

/** Returns one cue for each utterance. They must be in the order of their starts. */
export function toWebVtt(utterances: readonly Utterance[]): string {
  const cues = utterances.map(({ speaker, text, start_ms, end_ms }, index) => {
    // There is no time before 0.
    const start = Math.max(start_ms, 0)
    const end = end_ms > start ? end_ms : start + untimedMs
    return `${index + 1}\n${toTime(start)} --> ${toTime(end)}\n<v ${speaker}>${toCueText(text)}\n`
  })
  return ['WEBVTT\n', ...cues].join('\n')
}

function toTime(ms: number): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const seconds = ms / 1000
  const fraction = String(ms % 1000).padStart(3, '0')
  return `${two(seconds / 3600)}:${two((seconds / 60) % 60)}:${two(seconds % 60)}.${fraction}`
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Returns the text without what could end its cue or begin another: line ends, tags and `-->`. */
function toCueText(text: string): string {
  return text
    .replace(/[\s\0]+/g, ' ')
    .trim()
    .replace(/[&<>]/g, (character) => escapes[character] ?? '')
}
