import { expect, test } from 'bun:test'
import { AppError, OperatorError, OutgoingError } from '../../src/lib/errors.ts'

test('each kind of error goes by its name, as the log shows it', () => {
  const errors = [new AppError('INVALID', 'a'), new OperatorError('a'), new OutgoingError('timeout')]
  expect(errors.map(String)).toEqual(['AppError: a', 'OperatorError: a', 'OutgoingError: timeout'])
})
