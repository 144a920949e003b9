// The yardstick: a bare node:http server that returns the bytes it was given. It runs as a child process.
import { readFileSync } from 'node:fs'
import http from 'node:http'

// A response that is too long for an argument comes in a file.
const given = process.argv[2] ?? '{}'
const text = given.startsWith('@') ? readFileSync(given.slice(1), 'utf8') : given
const { port, headers, body } = JSON.parse(text) as {
  port: number
  headers: Record<string, string>
  body: string
}
const server = http.createServer((request, response) => {
  request.resume()
  response.writeHead(200, headers)
  response.end(body)
})
server.listen(port, '127.0.0.1', () => process.stdout.write('ready\n'))
