// Draws the call of a demo as the picture of the README, from what the demo has printed:
//   npm run -s demo -- --no-keep | node scripts/draw-terminal.ts > docs/demo.svg
import { text } from 'node:stream/consumers'

const lineHeight = 20
const margin = 20
const widthOfLetter = 7.83

const colourOf: Readonly<Record<string, string>> = {
  phone: '#7dcfff',
  platform: '#9ece6a',
  server: '#e0af68',
}

const sid = /([0-9a-f]{8})-[0-9a-f-]{27}/g
const escaped = (words: string): string =>
  words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

function span(words: string, colour: string): string {
  return `<tspan fill="${colour}">${escaped(words)}</tspan>`
}

/** Returns the lines from "The call" to the next title, with ids cut to their first eight digits. */
function callOf(output: string): readonly string[] {
  const [, after] = output.split(/^The call\n/m)
  if (after === undefined) throw new Error('The output of the demo has no call.')
  const [call = ''] = after.split('\n\n')
  return call
    .replaceAll(sid, '$1…')
    .split('\n')
    .filter((line) => line.trim() !== '')
}

function drawn(line: string): string {
  const [, time = '', who = '', words = ''] = /^( *[\d.]+ s {2})(\w+ +)(.*)$/.exec(line) ?? []
  return span(time, '#787c99') + span(who, colourOf[who.trim()] ?? '#c0caf5') + span(words, '#c0caf5')
}

const call = callOf(await text(process.stdin))
const lines = [
  span('$ ', '#787c99') + span('npm run demo', '#ffffff'),
  '',
  span('The call', '#ffffff'),
  ...call.map(drawn),
]
const longest = Math.max(...call.map((line) => line.length))
const width = Math.ceil(longest * widthOfLetter + 2 * margin)
const height = lines.length * lineHeight + 2 * margin - 4
const rows = lines.map(
  (line, at) => `  <text x="${margin}" y="${margin + (at + 1) * lineHeight - 8}">${line}</text>`,
)
console.log(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
  <title>A call of npm run demo</title>
  <style>text { font: 13px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; white-space: pre }</style>
  <rect width="100%" height="100%" rx="8" fill="#1a1b26"/>
${rows.join('\n')}
</svg>`)
