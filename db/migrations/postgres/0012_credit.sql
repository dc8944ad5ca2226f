CREATE TABLE "lending_rule_versions" (
	"version" text COLLATE "C" PRIMARY KEY NOT NULL,
	"rules" text COLLATE "C" NOT NULL,
	"first_used_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "merchant_default_blocks" (
	"merchant_id" text COLLATE "C" NOT NULL,
	"block" integer NOT NULL,
	"defaults" integer NOT NULL,
	CONSTRAINT "merchant_default_blocks_merchant_id_block_pk" PRIMARY KEY("merchant_id","block")
);
--> statement-breakpoint
ALTER TABLE "merchant_default_blocks" ADD CONSTRAINT "merchant_default_blocks_merchant_id_users_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "repayments_lender" ON "repayments" USING btree ("lender_id","id");--> statement-breakpoint
CREATE FUNCTION souk_keep_repayments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF OLD.reversed_at IS NULL AND NEW.reversed_at IS NOT NULL AND to_jsonb(NEW) - 'reversed_at' = to_jsonb(OLD) - 'reversed_at' THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION 'a repayment cannot be changed or removed: it is reversed, once' USING ERRCODE = 'restrict_violation';
END
$$;--> statement-breakpoint
CREATE TRIGGER repayments_kept BEFORE UPDATE OR DELETE ON repayments FOR EACH ROW EXECUTE FUNCTION souk_keep_repayments();--> statement-breakpoint
CREATE TRIGGER repayments_not_truncated BEFORE TRUNCATE ON repayments FOR EACH STATEMENT EXECUTE FUNCTION souk_keep_repayments();--> statement-breakpoint
CREATE FUNCTION souk_keep_credit_records() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% cannot be changed or removed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;--> statement-breakpoint
CREATE TRIGGER repayment_reversals_kept BEFORE UPDATE OR DELETE ON repayment_reversals FOR EACH ROW EXECUTE FUNCTION souk_keep_credit_records();--> statement-breakpoint
CREATE TRIGGER repayment_reversals_not_truncated BEFORE TRUNCATE ON repayment_reversals FOR EACH STATEMENT EXECUTE FUNCTION souk_keep_credit_records();--> statement-breakpoint
CREATE TRIGGER lender_status_history_kept BEFORE UPDATE OR DELETE ON lender_status_history FOR EACH ROW EXECUTE FUNCTION souk_keep_credit_records();--> statement-breakpoint
CREATE TRIGGER lender_status_history_not_truncated BEFORE TRUNCATE ON lender_status_history FOR EACH STATEMENT EXECUTE FUNCTION souk_keep_credit_records();--> statement-breakpoint
CREATE TRIGGER lending_rule_versions_kept BEFORE UPDATE OR DELETE ON lending_rule_versions FOR EACH ROW EXECUTE FUNCTION souk_keep_credit_records();--> statement-breakpoint
CREATE TRIGGER lending_rule_versions_not_truncated BEFORE TRUNCATE ON lending_rule_versions FOR EACH STATEMENT EXECUTE FUNCTION souk_keep_credit_records();
