export type {
  Capabilities,
  NewPayment as NewOutsidePayment,
  PaymentName as OutsideName,
  PaymentState as OutsideState,
  Processor as OutsideProcessor,
  ProcessorMessage,
  ProcessorPayment as OutsidePayment,
  References,
  RefundAnswer as OutsideRefund,
  RefundName as OutsideRefundName,
} from './processor.ts'
