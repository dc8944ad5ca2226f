CREATE TABLE "credit_note_numbers" (
	"shop_id" text COLLATE "C" NOT NULL,
	"mode" text COLLATE "C" NOT NULL,
	"last" integer NOT NULL,
	CONSTRAINT "credit_note_numbers_shop_id_mode_pk" PRIMARY KEY("shop_id","mode")
);
--> statement-breakpoint
CREATE TABLE "credit_notes" (
	"refund_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"order_id" text COLLATE "C" NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"mode" text COLLATE "C" NOT NULL,
	"number" integer NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "invoices" (
	"order_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"seller" text NOT NULL,
	"buyer" text NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "shops" ADD COLUMN "legal_name" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "shops" ADD COLUMN "tax_number" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "shops" ADD COLUMN "invoice_note" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "credit_note_numbers" ADD CONSTRAINT "credit_note_numbers_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "credit_notes" ADD CONSTRAINT "credit_notes_refund_id_refunds_id_fk" FOREIGN KEY ("refund_id") REFERENCES "public"."refunds"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "credit_notes" ADD CONSTRAINT "credit_notes_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "credit_notes" ADD CONSTRAINT "credit_notes_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "credit_notes_number" ON "credit_notes" USING btree ("shop_id","mode","number");--> statement-breakpoint
CREATE INDEX "credit_notes_order" ON "credit_notes" USING btree ("order_id");