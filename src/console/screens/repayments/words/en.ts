export default {
  title: 'Repayments',
} as const
