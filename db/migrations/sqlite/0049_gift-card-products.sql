ALTER TABLE `carts` ADD `gift_card_recipient` text;--> statement-breakpoint
ALTER TABLE `gift_cards` ADD `order_id` text;--> statement-breakpoint
ALTER TABLE `gift_cards` ADD `order_line_id` text;--> statement-breakpoint
ALTER TABLE `gift_cards` ADD `unit` integer;--> statement-breakpoint
ALTER TABLE `gift_cards` ADD `refund_id` text;--> statement-breakpoint
CREATE UNIQUE INDEX `gift_cards_sold` ON `gift_cards` (`order_id`,`order_line_id`,`unit`) WHERE order_id is not null;--> statement-breakpoint
ALTER TABLE `order_lines` ADD `gift_card` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `orders` ADD `gift_card_recipient` text;--> statement-breakpoint
ALTER TABLE `products` ADD `kind` text DEFAULT 'STANDARD' NOT NULL;