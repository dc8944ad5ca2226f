import { pageOf } from '../../http/schema.ts'
import { OrderRecord } from '../order/model.ts'

export const OwnOrders = pageOf(OrderRecord)
