import { expect, test } from 'bun:test'
import { AppError, OperatorError } from '../../src/core/errors.ts'
import { OutgoingError } from '../../src/core/outgoing.ts'

test('each kind of error goes by its name, as the log shows it', () => {
  const errors = [new AppError('INVALID', 'a'), new OperatorError('a'), new OutgoingError('timeout')]
  expect(errors.map(String)).toEqual(['AppError: a', 'OperatorError: a', 'OutgoingError: timeout'])
})
